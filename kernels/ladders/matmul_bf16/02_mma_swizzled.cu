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
#include "store.cuh"
#include "tile.cuh"

constexpr int kTile = 128;       // rows and columns of C per block
constexpr int kThreads = 128;    // 2 x 2 warps
constexpr int kWarpTile = 64;
constexpr int kStages = 3;
constexpr int kTileBytes = kTile * kRowBytes;
constexpr int kSteps = kDepth / 16;

struct Fragments {
  unsigned a[4][4];  // four times 16 rows
  unsigned b[16];    // eight times 8 columns, two registers each
};

// Fragments of step `step` for the warp whose rows start at `a` and `b`.
__device__ __forceinline__ void load(Fragments& f, const unsigned char* a, const unsigned char* b, int lane, int step) {
  // A: matrices (rows 0-7, k 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15)
  const unsigned char* from_a = a + swizzled(lane % 16, 2 * step + lane / 16);
#pragma unroll
  for (int i = 0; i < 4; ++i) load_matrices(f.a[i], from_a + i * 16 * kRowBytes);
  // B: matrices (columns 0-7, k 0-7), (0-7, 8-15), (8-15, 0-7), (8-15, 8-15): two 16 x 8 operands
  const unsigned char* from_b = b + swizzled(lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2);
#pragma unroll
  for (int i = 0; i < 4; ++i) load_matrices(&f.b[4 * i], from_b + i * 16 * kRowBytes);
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    matmul_bf16(const bf16* __restrict__ a, const bf16* __restrict__ b, float* __restrict__ c, long long m, long long n,
                long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int y = warp / 2 * kWarpTile, x = warp % 2 * kWarpTile;
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

  float sum[4][8][4] = {};
  Fragments f[2];
  int reading = 0, writing = kStages - 1;
  for (int t = 0; t < tiles; ++t) {
    wait_copies<kStages - 2>();
    __syncthreads();  // tile t is complete, and all have read tile t - 1: its stage is free
    copy(t + kStages - 1, writing);
    writing = writing + 1 == kStages ? 0 : writing + 1;
    const unsigned char* stage = shared_bytes + reading * 2 * kTileBytes;
    reading = reading + 1 == kStages ? 0 : reading + 1;
    const unsigned char* warp_a = stage + y * kRowBytes;
    const unsigned char* warp_b = stage + kTileBytes + x * kRowBytes;
    load(f[0], warp_a, warp_b, lane, 0);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (s + 1 < kSteps) load(f[(s + 1) % 2], warp_a, warp_b, lane, s + 1);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) multiply_add(sum[i][j], f[s % 2].a[i], &f[s % 2].b[2 * j]);
    }
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
