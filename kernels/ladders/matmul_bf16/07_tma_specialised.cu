// title: TMA, producer warp
// idea: a fifth warp requests whole tiles from the copy engine, which stores them swizzled, and waits for free stages;
//       a barrier in shared memory counts the bytes. The four multiplying warps compute no address for a copy, wait
//       for data, and never for each other. Slower than 06 on an H200 (0.87): five warps of 207 registers leave room for
//       one block of a multiprocessor, four of 200 for two, which hide each other's waits
// maps: a 128x64 swizzle128, b 128x64 swizzle128
// block: 160
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 3 * 2 * 128 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a, sm_120
// source: CUDA C++ Programming Guide, tensor memory access; NVIDIA CUTLASS (warp specialisation)
#include "../matmul/tile_order.cuh"
#include "../matmul/tma.cuh"
#include "mma.cuh"

constexpr int kTile = 128, kWarps = 4, kStages = 3;
constexpr int kTileBytes = kTile * kRowBytes, kStageBytes = 2 * kTileBytes;

__constant__ CUtensorMap c_map_a, c_map_b;

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
  const int y = warp / 2 * WarpTile::kSide, x = warp % 2 * WarpTile::kSide;
  WarpTile product;
  for (int t = 0; t < tiles; ++t, ring.advance()) {
    wait(full + ring.stage, ring.parity);
    const unsigned char* stage = shared_bytes + ring.stage * kStageBytes;
    product.multiply(stage + y * kRowBytes, stage + kTileBytes + x * kRowBytes, lane);
    __syncwarp();
    if (lane == 0) arrive(empty + ring.stage);
  }
  product.store(c, tile.row + y, tile.col + x, m, n, lane);
}
