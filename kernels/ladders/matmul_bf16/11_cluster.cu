// title: clusters of two
// idea: two blocks with adjacent rows share the columns of B: each requests half, and the engine delivers it to both, which
//       halves the L2 traffic of B. No faster than 10 on an H200 (0.96 to 1.00 from 1024 to 8192): the L2 cache is not what
//       the products wait for, and two blocks that fill each other's stages wait for the slower one
// maps: a 128x64 swizzle128, b 128x64 swizzle128, c 64x32 swizzle128
// block: 384
// grid: 2 * min(sm // 2, ceil(m / 256) * ceil(n / 256))
// shared: 4 * (128 + 256) * 128 + 4 * 64 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a
// source: CUDA C++ Programming Guide, thread block clusters; pranjalssh, fast.cu
#include "../matmul/tma.cuh"
#include "named_barrier.cuh"
#include "warpgroup_tile.cuh"

__constant__ CUtensorMap c_map_a, c_map_b, c_map_c;

constexpr int kCluster = 2;
constexpr int kColsOfBlock = kCols / kCluster;  // of B that one block requests
constexpr int kBoxCols = 32, kBoxBytes = kGroupRows * kRowBytes;  // of C: 64 rows of 128 bytes
constexpr int kBoxes = 2;  // of a warpgroup: it fills one while the engine reads the other

// The sums of a warpgroup, in boxes one after the other.
__device__ __forceinline__ void write_sums(unsigned char* boxes, const Sums& sum, Tile tile, int group) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const int row = warp * 16 + lane / 4;
  const bool requests = threadIdx.x % 128 == 0;
#pragma unroll
  for (int part = 0; part < kCols / kBoxCols; ++part) {
    unsigned char* box = boxes + (group * kBoxes + part % kBoxes) * kBoxBytes;
    if (requests) wait_boxes_read<kBoxes - 1>();  // the engine has read what was in this box before
    meet(1 + group, 128);
#pragma unroll
    for (int j = 0; j < kBoxCols / 8; ++j) {
      const float* v = sum + (part * kBoxCols / 8 + j) * 4;
      const int at = row * kRowBytes + (j * 8 + lane % 4 * 2) * 4;
      *reinterpret_cast<float2*>(box + swizzle(at)) = make_float2(v[0], v[1]);
      *reinterpret_cast<float2*>(box + swizzle(at + 8 * kRowBytes)) = make_float2(v[2], v[3]);
    }
    fence_async_proxy();
    meet(1 + group, 128);
    if (requests) {
      write_box(&c_map_c, static_cast<int>(tile.row) + group * kGroupRows, static_cast<int>(tile.col) + part * kBoxCols,
                box);
      commit_boxes();
    }
  }
}

// The tile of a block of the cluster: tiles are numbered by pairs, one above the other.
__device__ __forceinline__ Tile tile_of_block(long long index, int rank, long long m, long long n) {
  Tile tile = tile_of<kCluster * kRows, kCols, 8>(index, m, n);
  tile.row += rank * kRows;
  return tile;
}

extern "C" __global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(384, 1)
    matmul_bf16(const bf16*, const bf16*, float*, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  unsigned char* boxes = shared_bytes + kStages * kStageBytes;
  Barrier* full = reinterpret_cast<Barrier*>(boxes + kGroups * kBoxes * kBoxBytes);
  Barrier* empty = full + kStages;
  int rank;  // of the block in its cluster
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int steps = static_cast<int>((k + kDepth - 1) / kDepth);
  const long long tiles = ((m + kCluster * kRows - 1) / (kCluster * kRows)) * ((n + kCols - 1) / kCols);
  const long long cluster = blockIdx.x / kCluster, clusters = gridDim.x / kCluster;
  const int thread = threadIdx.x % 128, group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (threadIdx.x == 0) {
    prefetch_map(&c_map_a);
    prefetch_map(&c_map_b);
    for (int s = 0; s < kStages; ++s) {
      make_barrier(full + s, 1);
      make_barrier(empty + s, kGroups * kCluster);  // both blocks have read what both receive
    }
    publish_barriers();
  }
  meet_cluster<kCluster>();
  Ring<kStages> ring;  // goes on from tile to tile
  if (group < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      for (long long index = cluster; index < tiles; index += clusters) {
        const Tile tile = tile_of_block(index, rank, m, n);
        const int col = rank * kColsOfBlock;
        for (int t = 0; t < steps; ++t, ring.advance()) {
          wait(empty + ring.stage, ring.parity ^ 1);  // returns at once at first: that phase is complete
          unsigned char* to = shared_bytes + ring.stage * kStageBytes;
          expect(full + ring.stage, kStageBytes);  // half of B comes from the other block
          copy_box(to, &c_map_a, static_cast<int>(tile.row), t * kDepth, full + ring.stage);
          copy_box_to<kCluster>(to + kBytesA + col * kRowBytes, &c_map_b, static_cast<int>(tile.col) + col, t * kDepth,
                                full + ring.stage, (1 << kCluster) - 1);
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    for (long long index = cluster; index < tiles; index += clusters) {
      Sums sum;
#pragma unroll
      for (int i = 0; i < kCols / 2; ++i) sum[i] = 0.0f;
      int before = 0;
      for (int t = 0; t < steps; ++t, ring.advance()) {
        wait(full + ring.stage, ring.parity);
        multiply_stage(sum, shared_bytes + ring.stage * kStageBytes, group);
        wait_products<1>();  // of the previous step; this one continues
        if (t > 0 && thread < kCluster) arrive_at(empty + before, thread);  // in each block
        before = ring.stage;
      }
      wait_products<0>();
      if (thread < kCluster) arrive_at(empty + before, thread);
      write_sums(boxes, sum, tile_of_block(index, rank, m, n), group);
    }
    wait_boxes_read<0>();  // the shared memory must remain valid until then
  }
  __syncwarp();
  meet_cluster<kCluster>();  // no block exits while another one copies to it
}
