// The kernels of a tree over the primitives of a scene, in the order of their launches (backends/cuda/tree.py).
#pragma once
#include "../core/layout.h"
#include "bvh/cluster.cuh"
#include "bvh/collapse.cuh"
#include "bvh/morton.cuh"
#include "bvh/radix_sort.cuh"
#include "bvh/records.cuh"
#include "bvh/refit.cuh"

RT_LAYOUT_TABLE

// clusters: columns of the primitives, until there are clusters
extern "C" __global__ void __launch_bounds__(256) tree_records(const __grid_constant__ rt::BuildArgs args) {
  rt::interleave((const float*)args.clusters, (rt::PrimitiveRecord*)args.records,
                 (uint32_t)(args.count + args.apart_count));
}

extern "C" __global__ void __launch_bounds__(256) tree_bounds(const __grid_constant__ rt::BuildArgs args) {
  rt::add_bounds(rt::Build{args});
}

// step: whether the packing before had all primitives of the tree and no other: tree_bounds is not needed
extern "C" __global__ void __launch_bounds__(256) tree_keys(const __grid_constant__ rt::BuildArgs args) {
  __shared__ uint32_t shared[rt::kSortPasses * rt::kDigits];
  rt::write_keys(rt::Build{args}, args.step, shared);
}

// step: the pass; a block has a tile
extern "C" __global__ void __launch_bounds__(rt::kSortThreads, 3)
    tree_sort(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::SortShared shared;
  rt::sort_pass(rt::Build{args}, args.step, shared);
}

extern "C" __global__ void __launch_bounds__(rt::kClusterThreads)
    tree_cluster(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::ClusterShared shared;
  rt::cluster_primitives(rt::Build{args}, shared);
}

// step: the level
extern "C" __global__ void __launch_bounds__(rt::kNodeThreads) tree_nodes(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::NodeShared shared;
  const rt::Build b{args};
  if (args.step == 0) {
    if (blockIdx.x) return;
    if (threadIdx.x == 0) b.queue[0] = b.state->root, b.state->level[0] = {0, 1, 0, 0};
    __syncthreads();
  }
  rt::make_level(b, args.step, shared);
}

// step: the first of the levels that are left, few nodes in all; by one block
extern "C" __global__ void __launch_bounds__(rt::kNodeThreads) tree_end(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::NodeShared shared;
  const rt::Build b{args};
  for (int depth = args.step; depth < rt::kMaxLevels; ++depth) {
    const rt::Level level = b.state->level[depth];
    if (level.begin == level.end) break;
    rt::make_level(b, depth, shared);
    __threadfence();
    __syncthreads();
  }
  for (uint32_t k = threadIdx.x; k < b.apart_count; k += blockDim.x) {
    const uint32_t id = b.apart[k], place = b.count + k;
    b.spheres[place] = rt::load_record(b.records + id), b.order[place] = id;
  }
}

extern "C" __global__ void __launch_bounds__(rt::kNodeThreads) tree_refit(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::RefitShared shared;
  const rt::Build b{args};
  rt::refit_nodes(b, shared);
  if (blockIdx.x == 0)
    for (uint32_t k = threadIdx.x; k < b.apart_count; k += blockDim.x)
      b.spheres[b.count + k] = rt::load_record(b.records + b.apart[k]);
}

// The records in the order of the input, out of the leaves.
extern "C" __global__ void __launch_bounds__(256) tree_restore(const __grid_constant__ rt::BuildArgs args) {
  const rt::Build b{args};
  for (uint32_t place = blockIdx.x * blockDim.x + threadIdx.x; place < b.total(); place += gridDim.x * blockDim.x)
    ((rt::PrimitiveRecord*)args.records)[b.order[place]] = rt::load_record(b.spheres + place);
}
