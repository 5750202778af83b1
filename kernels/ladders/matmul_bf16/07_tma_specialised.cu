// title: TMA, producer warp
// idea: a fifth warp requests whole tiles from the copy engine, which stores them swizzled, and waits for free stages;
//       a barrier in shared memory counts the bytes. The four multiplying warps compute no address for a copy, wait
//       for data, and never for each other
// maps: a 128x64 swizzle128, b 128x64 swizzle128
// block: 160
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 3 * 2 * 128 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a, sm_120
// source: CUDA C++ Programming Guide, tensor memory access; NVIDIA CUTLASS (warp specialisation)
#include <cuda_bf16.h>

#include "../matmul/tile_order.cuh"
#include "../matmul/tma.cuh"
#include "mma.cuh"
#include "store.cuh"
#include "swizzle.cuh"

using bf16 = __nv_bfloat16;

constexpr int kTile = 128, kWarpTile = 64, kWarps = 4, kStages = 3;
constexpr int kRowBytes = 128;             // of the tile of a stage, and its swizzle
constexpr int kDepth = kRowBytes / 2;      // values along k per stage
constexpr int kTileBytes = kTile * kRowBytes, kStageBytes = 2 * kTileBytes;
constexpr int kSteps = kDepth / 16;

__constant__ CUtensorMap c_map_a, c_map_b;

struct Fragments {
  unsigned a[4][4];
  unsigned b[16];
};

__device__ __forceinline__ const unsigned char* chunk(const unsigned char* tile, int row, int chunk) {
  return tile + swizzle<kRowBytes>(row * kRowBytes + chunk * 16);
}

// For the warp whose part of the stage begins at row y of A and row x of B; see 02_mma_swizzled.
__device__ __forceinline__ void load(Fragments& f, const unsigned char* stage, int y, int x, int lane, int step) {
#pragma unroll
  for (int i = 0; i < 4; ++i) load_matrices(f.a[i], chunk(stage, y + i * 16 + lane % 16, 2 * step + lane / 16));
#pragma unroll
  for (int i = 0; i < 4; ++i)
    load_matrices(&f.b[4 * i],
                  chunk(stage + kTileBytes, x + i * 16 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
}

// Adds the products of a stage to the sums of the warp.
__device__ __forceinline__ void multiply(float (&sum)[4][8][4], const unsigned char* stage, int y, int x, int lane) {
  Fragments f[2];
  load(f[0], stage, y, x, lane, 0);
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    if (s + 1 < kSteps) load(f[(s + 1) % 2], stage, y, x, lane, s + 1);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) multiply_add(sum[i][j], f[s % 2].a[i], &f[s % 2].b[2 * j]);
  }
}

extern "C" __global__ void __launch_bounds__(160, 1)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];  // [kStages][2][kTile][kRowBytes], then barriers
  Barrier* full = reinterpret_cast<Barrier*>(shared_bytes + kStages * kStageBytes);
  Barrier* empty = full + kStages;
  const int tiles = static_cast<int>((k + kDepth - 1) / kDepth);
  const Tile tile = tile_of<kTile, kTile, 16>(blockIdx.x, m, n);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; s++) {
      make_barrier(full + s, 1);
      make_barrier(empty + s, kWarps);
    }
    publish_barriers();
  }
  __syncthreads();
  Ring<kStages> ring;
  if (warp == kWarps) {
    if (lane != 0) return;
    for (int t = 0; t < tiles; ++t, ring.advance()) {
      if (t >= kStages) wait(empty + ring.stage, ring.parity ^ 1);
      unsigned char* to = shared_bytes + ring.stage * kStageBytes;
      expect(full + ring.stage, kStageBytes);
      copy_box(to, &c_map_a, static_cast<int>(tile.row), t * kDepth, full + ring.stage);
      copy_box(to + kTileBytes, &c_map_b, static_cast<int>(tile.col), t * kDepth, full + ring.stage);
    }
    return;
  }
  const int y = warp / 2 * kWarpTile, x = warp % 2 * kWarpTile;
  float sum[4][8][4] = {};
  for (int t = 0; t < tiles; ++t, ring.advance()) {
    wait(full + ring.stage, ring.parity);
    multiply(sum, shared_bytes + ring.stage * kStageBytes, y, x, lane);
    __syncwarp();
    if (lane == 0) arrive(empty + ring.stage);
  }
  const long long row = tile.row + y + lane / 4, col = tile.col + x + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float* v = sum[i][j];
      store2(c, row + i * 16, col + j * 8, m, n, v[0], v[1]);
      store2(c, row + i * 16 + 8, col + j * 8, m, n, v[2], v[3]);
    }
}
