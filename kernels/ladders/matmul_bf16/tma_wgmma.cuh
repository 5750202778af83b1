// TMA feeds wgmma: one warpgroup copies, two multiply 64 rows of C each, and the engine writes C while the next tile is
// multiplied.
#pragma once
#include <cuda_bf16.h>

#include "../matmul/tile_order.cuh"
#include "../matmul/tma.cuh"
#include "named_barrier.cuh"
#include "wgmma.cuh"

using bf16 = __nv_bfloat16;

// Cluster: blocks with adjacent rows that share the columns of B: each requests a part, the engine delivers to all.
template <int Cluster> struct TmaWgmma {
  static constexpr int kGroups = 2, kGroupRows = 64, kCols = 256, kCluster = Cluster;
  static constexpr int kRows = kGroups * kGroupRows;
  static constexpr int kDepth = 64, kRowBytes = 128, kStages = 4;
  static constexpr int kChunks = 2;  // of C in shared memory, of each multiplying warpgroup
  static constexpr int kBytesA = kRows * kRowBytes, kBytesB = kCols * kRowBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static constexpr int kColsOfBlock = kCols / kCluster;  // of B that one block requests
  static constexpr int kChunkCols = 32;  // of C that one store writes: 128 bytes
  static constexpr int kChunkBytes = kGroupRows * kRowBytes;
  static constexpr int kParts = kCols / kChunkCols;
  static constexpr int kBandRows = 2048;  // concurrent tiles cover about a square of C
  using Sums = float[kCols / 2];

  unsigned char* shared;  // stages, then chunks of C for each group, then barriers
  Barrier *full, *empty;
  int rank;  // in the cluster

  __device__ __forceinline__ explicit TmaWgmma(unsigned char* bytes) : shared(bytes), rank(0) {
    full = reinterpret_cast<Barrier*>(chunks() + kChunks * kGroups * kChunkBytes);
    empty = full + kStages;
    if constexpr (kCluster > 1) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  }
  __device__ __forceinline__ unsigned char* chunks() const { return shared + kStages * kStageBytes; }

  // Calls each(tile) for the tiles of C of this block: every gridDim-th.
  template <class Each> __device__ __forceinline__ void for_tiles(long long m, long long n, Each each) const {
    const long long rows = (m + kCluster * kRows - 1) / (kCluster * kRows), cols = (n + kCols - 1) / kCols;
    const long long tiles = rows * cols, clusters = gridDim.x / kCluster;
    if (blockIdx.x / kCluster >= clusters) return;
    for (long long index = blockIdx.x / kCluster; index < tiles; index += clusters) {
      Tile tile = tile_of<kCluster * kRows, kCols, kBandRows / (kCluster * kRows)>(index, m, n);
      tile.row += rank * kRows;
      each(tile);
    }
  }

  // By one thread.
  __device__ __forceinline__ void copy_all(const CUtensorMap* a, const CUtensorMap* b, long long m, long long n,
                                           int steps) {
    Ring<kStages> ring;
    for_tiles(m, n, [&](Tile tile) {
      for (int t = 0; t < steps; ++t, ring.advance()) {
        wait(empty + ring.stage, ring.parity ^ 1);  // returns at once at first: that phase is complete
        unsigned char* to = shared + ring.stage * kStageBytes;
        Barrier* there = full + ring.stage;
        expect(there, kStageBytes);
        copy_box(to, a, static_cast<int>(tile.row), t * kDepth, there);
        const int col = rank * kColsOfBlock;
        copy_box_to<kCluster>(to + kBytesA + col * kRowBytes, b, static_cast<int>(tile.col) + col, t * kDepth, there,
                              (1 << kCluster) - 1);
      }
    });
  }

  // The group has finished a stage, which the producers of this block and of the other may fill again.
  __device__ __forceinline__ void release(int stage) {
    const int thread = threadIdx.x % 128;
    if constexpr (kCluster > 1) {
      if (thread < kCluster) arrive_at(empty + stage, thread);
    } else {
      if (thread == 0) arrive(empty + stage);
    }
  }

  __device__ __forceinline__ void multiply_all(const CUtensorMap* map_c, long long m, long long n, int steps) {
    const int group = threadIdx.x / 128 - 1;
    const int first_row = group * kGroupRows;
    Ring<kStages> ring;
    for_tiles(m, n, [&](Tile tile) {
      Sums sum;
#pragma unroll
      for (int i = 0; i < kCols / 2; ++i) sum[i] = 0.0f;
      int before = 0;
      for (int t = 0; t < steps; ++t, ring.advance()) {
        wait(full + ring.stage, ring.parity);
        const unsigned char* stage = shared + ring.stage * kStageBytes;
        const unsigned char* rows = stage + first_row * kRowBytes;
        fence_registers();
#pragma unroll
        for (int s = 0; s < kDepth / 16; ++s)
          Wgmma<kCols, false, false>::run(sum, describe_tile(rows + s * 32), describe_tile(stage + kBytesA + s * 32),
                                          1);
        commit_products();
        wait_products<1>();  // of the previous step; this one continues
        if (t > 0) release(before);
        before = ring.stage;
      }
      wait_products<0>();
      release(before);
      tile.row += first_row;
      write_boxes(map_c, sum, tile, group);
    });
    wait_boxes_read<0>();  // the shared memory must remain valid until then
  }

  // 64 rows of 32 columns at a time, through the chunks of the group in turn.
  __device__ __forceinline__ void write_boxes(const CUtensorMap* map, const Sums& sum, Tile tile, int group) {
    static_assert(kParts % kChunks == 0, "a tile begins with chunk 0");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int row = warp * 16 + lane / 4;
    const bool asks = threadIdx.x % 128 == 0;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      unsigned char* chunk = chunks() + (group * kChunks + part % kChunks) * kChunkBytes;
      if (asks) wait_boxes_read<kChunks - 1>();  // the previous store of this chunk has read it
      meet(1 + group, 128);
#pragma unroll
      for (int j = 0; j < kChunkCols / 8; ++j) {
        const float* v = sum + (part * kChunkCols / 8 + j) * 4;
        const int at = row * kRowBytes + (j * 8 + lane % 4 * 2) * 4;
        *reinterpret_cast<float2*>(chunk + swizzle(at)) = make_float2(v[0], v[1]);
        *reinterpret_cast<float2*>(chunk + swizzle(at + 8 * kRowBytes)) = make_float2(v[2], v[3]);
      }
      fence_async_proxy();
      meet(1 + group, 128);
      if (asks) {
        write_box(map, static_cast<int>(tile.row), static_cast<int>(tile.col) + part * kChunkCols, chunk);
        commit_boxes();
      }
    }
  }

  __device__ __forceinline__ void run(const CUtensorMap* a, const CUtensorMap* b, const CUtensorMap* map_c, long long m,
                                      long long n, long long k) {
    if (threadIdx.x == 0) {
      prefetch_map(a);
      prefetch_map(b);
      for (int s = 0; s < kStages; ++s) {
        make_barrier(full + s, 1);
        make_barrier(empty + s, kGroups * kCluster);
      }
      publish_barriers();
    }
    meet_cluster<kCluster>();
    const int steps = static_cast<int>((k + kDepth - 1) / kDepth);
    if (threadIdx.x < 128) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadIdx.x == 0) copy_all(a, b, m, n, steps);
    } else if (threadIdx.x < 128 * (1 + kGroups)) {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      multiply_all(map_c, m, n, steps);
    }
    if constexpr (kCluster > 1) {
      __syncwarp();
      meet_cluster<kCluster>();  // no block exits while another one copies to it
    }
  }
};
