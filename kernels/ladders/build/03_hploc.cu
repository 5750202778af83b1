// title: H-PLOC
// idea: no rounds: a thread climbs the radix tree of the keys from each primitive, and the second of two that meet at a node
//       goes on. A node hands two clusters on to its parent; where four meet, those with the smallest common boxes are merged
//       until two are left. Surfaces decide within a node and its neighbours, in one launch over the primitives
// block: 256
// grid: ceil(spheres / 256)
// flags: --fmad=false
// source: Benthin et al. 2024 (H-PLOC), which hands 16 clusters on; Apetrei 2014 (the radix tree from below)
#include "../../cuda/bvh/cluster.cuh"
#include "binary_tree.cuh"

// As the builder of the renderer does it: threads of a block meet in shared memory first, then blocks in global memory.
extern "C" __global__ void __launch_bounds__(rt::kClusterThreads) build(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::ClusterShared shared;
  rt::cluster_primitives(rt::Build{args}, shared);
}
