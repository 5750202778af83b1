// title: cp.async, ldmatrix, mma.sync
// idea: a ring of three cp.async stages feeds ldmatrix through an XOR swizzle without bank conflicts;
//       each warp keeps a 64 x 64 tile in registers and loads the next fragments while it multiplies;
//       two blocks per multiprocessor hide each other's barriers
// block: 128
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 3 * 2 * 128 * 128
// dtypes: bfloat16
// needs: sm_80+
// source: PTX ISA, mma.m16n8k16 and ldmatrix; gau-nernst, learn-cuda (the ladder)
#include "../matmul/tile_order.cuh"
#include "mma.cuh"

constexpr int kTile = 128;       // rows and columns of C per block
constexpr int kThreads = 128;    // 2 x 2 warps
constexpr int kStages = 3;
constexpr int kTileBytes = kTile * kRowBytes;

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    matmul_bf16(const bf16* __restrict__ a, const bf16* __restrict__ b, float* __restrict__ c, long long m, long long n,
                long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int y = warp / 2 * WarpTile::kSide, x = warp % 2 * WarpTile::kSide;
  const Tile tile = tile_of<kTile, kTile, 16>(blockIdx.x, m, n);
  const bool aligned = chunks_aligned(a, k) && chunks_aligned(b, k);
  const int tiles = static_cast<int>((k + kDepth - 1) / kDepth);
  const bf16* from_a = a + tile.row * k;
  const bf16* from_b = b + tile.col * k;

  auto copy = [&](int t, int stage) {
    if (t < tiles) {
      unsigned char* to = shared_bytes + stage * 2 * kTileBytes;
      const long long k0 = t * static_cast<long long>(kDepth);
      copy_tile<kTile, kThreads>(to, from_a + k0, tid, m - tile.row, k - k0, k, aligned);
      copy_tile<kTile, kThreads>(to + kTileBytes, from_b + k0, tid, n - tile.col, k - k0, k, aligned);
    }
    commit_copies();  // one group per tile, also if empty: waits count groups
  };
  for (int t = 0; t < kStages - 1; ++t) copy(t, t);

  WarpTile product;
  int reading = 0, writing = kStages - 1;
  for (int t = 0; t < tiles; ++t) {
    wait_copies<kStages - 2>();
    __syncthreads();  // tile t is complete, and all have read tile t - 1: its stage is free
    copy(t + kStages - 1, writing);
    writing = writing + 1 == kStages ? 0 : writing + 1;
    const unsigned char* stage = shared_bytes + reading * 2 * kTileBytes;
    reading = reading + 1 == kStages ? 0 : reading + 1;
    product.multiply(stage + y * kRowBytes, stage + kTileBytes + x * kRowBytes, lane);
  }
  product.store(c, tile.row + y, tile.col + x, m, n, lane);
}
