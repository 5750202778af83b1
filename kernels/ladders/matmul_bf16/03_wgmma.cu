// title: wgmma
// idea: two warpgroups multiply 64 x 256 each directly from swizzled tiles in shared memory, without
//       fragments in registers. One group of products is always in flight while cp.async fills the
//       tile two ahead
// block: 256
// grid: ceil(m / 128) * ceil(n / 256)
// shared: 4 * (128 + 256) * 128
// dtypes: bfloat16
// needs: sm_90a
// source: PTX ISA, wgmma; pranjalssh, fast.cu (the tile)
#include "../matmul/tile_order.cuh"
#include "store.cuh"
#include "tile.cuh"
#include "wgmma_shapes.cuh"

constexpr int kRows = 128;  // of C per block
constexpr int kCols = 256;
constexpr int kGroupRows = 64;  // of a warpgroup
constexpr int kThreads = 256;
constexpr int kStages = 4;
constexpr int kAhead = kStages - 2;  // two stages may be in use by products
constexpr int kStageBytes = (kRows + kCols) * kRowBytes;
constexpr int kStepBytes = 32;  // 16 values

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    matmul_bf16(const bf16* __restrict__ a, const bf16* __restrict__ b, float* __restrict__ c, long long m, long long n,
                long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int group = warp / 4;
  const Tile tile = tile_of<kRows, kCols, 16>(blockIdx.x, m, n);
  const bool aligned = chunks_aligned(a, k) && chunks_aligned(b, k);
  const int tiles = static_cast<int>((k + kDepth - 1) / kDepth);
  const bf16* from_a = a + tile.row * k;
  const bf16* from_b = b + tile.col * k;

  auto copy = [&](int t) {
    if (t < tiles) {
      unsigned char* to = shared_bytes + t % kStages * kStageBytes;
      const long long k0 = t * static_cast<long long>(kDepth);
      copy_tile<kRows, kThreads>(to, from_a + k0, tid, m - tile.row, k - k0, k, aligned);
      copy_tile<kCols, kThreads>(to + kRows * kRowBytes, from_b + k0, tid, n - tile.col, k - k0, k, aligned);
    }
    commit_copies();  // one group per tile, also if empty: waits count groups
  };
  for (int t = 0; t < kAhead; ++t) copy(t);

  float sum[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) sum[i] = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    wait_copies<kAhead - 1>();
    fence_async_proxy();
    __syncthreads();  // tile t is complete, and both warpgroups have finished tile t - 2
    const unsigned char* stage = shared_bytes + t % kStages * kStageBytes;
    const unsigned char* rows = stage + group * kGroupRows * kRowBytes;
    const unsigned char* cols = stage + kRows * kRowBytes;
    fence_registers();
#pragma unroll
    for (int s = 0; s < kDepth / 16; ++s)
      Wgmma<256, false, false>::run(sum, describe_tile(rows + s * kStepBytes), describe_tile(cols + s * kStepBytes), 1);
    commit_products();
    copy(t + kAhead);  // into the stage of tile t - 2
    wait_products<1>();
  }
  wait_products<0>();

  const long long row = tile.row + group * kGroupRows + warp % 4 * 16 + lane / 4;
  const long long col = tile.col + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    store2(c, row, col + j * 8, m, n, sum[4 * j], sum[4 * j + 1]);
    store2(c, row + 8, col + j * 8, m, n, sum[4 * j + 2], sum[4 * j + 3]);
  }
}
