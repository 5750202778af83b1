// title: TMA, 64-byte swizzle
// idea: one thread requests whole tiles from the copy engine, which stores them swizzled; a barrier in shared memory counts
//       the bytes, and no thread computes an address for a copy. Rows of 64 bytes are 32 values along k: a block barrier
//       every 32 steps costs what the engine saves, so that this is no faster than cp.async on an H200 (0.96)
// maps: a 128x32 swizzle64, b 128x32 swizzle64
// block: 128
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 6 * 2 * 128 * 64 + 1024
// dtypes: bfloat16
// needs: sm_90a, sm_120
// source: CUDA C++ Programming Guide, tensor memory access; gau-nernst, learn-cuda (the ladder)
#include "../matmul/tile_order.cuh"
#include "../matmul/tma.cuh"
#include "mma.cuh"

constexpr int kRow = 64;  // bytes along k of a stage
constexpr int kTile = 128, kStages = 6, kSteps = kRow / 2;  // values along k of a stage
constexpr int kTileBytes = kTile * kRow, kStageBytes = 2 * kTileBytes;

__constant__ CUtensorMap c_map_a, c_map_b;

// Requests step t of A and B; by one thread, when the stage is free.
__device__ __forceinline__ void request(unsigned char* shared, Barrier* full, Tile tile, int t, int stage) {
  unsigned char* to = shared + stage * kStageBytes;
  expect(full + stage, kStageBytes);
  copy_box(to, &c_map_a, static_cast<int>(tile.row), t * kSteps, full + stage);
  copy_box(to + kTileBytes, &c_map_b, static_cast<int>(tile.col), t * kSteps, full + stage);
}

extern "C" __global__ void __launch_bounds__(128, 2)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];  // [kStages][2][kTile][kRow], then barriers
  Barrier* full = reinterpret_cast<Barrier*>(shared_bytes + kStages * kStageBytes);
  const int tiles = static_cast<int>((k + kSteps - 1) / kSteps);
  const Tile tile = tile_of<kTile, kTile, 16>(blockIdx.x, m, n);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int y = warp / 2 * WarpTile::kSide, x = warp % 2 * WarpTile::kSide;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; s++) make_barrier(full + s, 1);
    publish_barriers();
    for (int t = 0; t < kStages && t < tiles; ++t) request(shared_bytes, full, tile, t, t);
  }
  __syncthreads();
  WarpTileOf<kRow> product;
  Ring<kStages> ring;
  for (int t = 0; t < tiles; ++t, ring.advance()) {
    wait(full + ring.stage, ring.parity);
    const unsigned char* stage = shared_bytes + ring.stage * kStageBytes;
    product.multiply(stage + y * kRow, stage + kTileBytes + x * kRow, lane);
    __syncthreads();  // all have read the stage
    if (threadIdx.x == 0 && t + kStages < tiles) request(shared_bytes, full, tile, t + kStages, ring.stage);
  }
  product.store(c, tile.row + y, tile.col + x, m, n, lane);
}
