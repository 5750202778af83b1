// title: wgmma, tiles in order for L2
// idea: only the order of tiles differs: they are numbered along bands of 16 rows of tiles, so that the 132 blocks that an
//       H200 runs at once cover about a square of C. At 8192 they need 16 tiles of rows of A and 8 of columns of B from
//       memory instead of 4 and 32, and the L2 cache serves the other requests. Where C has 16 columns of tiles (4096),
//       rows of tiles are such a square already
// block: 256
// grid: ceil(m / 128) * ceil(n / 256)
// shared: 4 * (128 + 256) * 128
// dtypes: bfloat16
// needs: sm_90a
// source: NVIDIA CUTLASS (threadblock swizzle); pranjalssh, fast.cu
#include "warpgroup_tile.cuh"

constexpr int kThreads = 128 * kGroups;
constexpr int kAhead = kStages - 2;  // two stages may be in use by products
constexpr int kBand = 16;  // rows of tiles

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    matmul_bf16(const bf16* __restrict__ a, const bf16* __restrict__ b, float* __restrict__ c, long long m, long long n,
                long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const int tid = threadIdx.x, group = tid / 128;
  const Tile tile = tile_of<kRows, kCols, kBand>(blockIdx.x, m, n);
  const bool aligned = chunks_aligned(a, k) && chunks_aligned(b, k);
  const int tiles = static_cast<int>((k + kDepth - 1) / kDepth);
  const bf16* from_a = a + tile.row * k;
  const bf16* from_b = b + tile.col * k;

  auto copy = [&](int t) {
    if (t < tiles) {
      unsigned char* to = shared_bytes + t % kStages * kStageBytes;
      const long long k0 = t * static_cast<long long>(kDepth);
      copy_tile<kRows, kThreads>(to, from_a + k0, tid, m - tile.row, k - k0, k, aligned);
      copy_tile<kCols, kThreads>(to + kBytesA, from_b + k0, tid, n - tile.col, k - k0, k, aligned);
    }
    commit_copies();  // one group per tile, also if empty: waits count groups
  };
  for (int t = 0; t < kAhead; ++t) copy(t);

  Sums sum;
#pragma unroll
  for (int i = 0; i < kCols / 2; ++i) sum[i] = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    wait_copies<kAhead - 1>();
    fence_async_proxy();
    __syncthreads();  // tile t is complete, and both warpgroups have finished tile t - 2
    multiply_stage(sum, shared_bytes + t % kStages * kStageBytes, group);
    copy(t + kAhead);  // into the stage of tile t - 2
    wait_products<1>();
  }
  wait_products<0>();
  store_sums(c, sum, tile, group, m, n);
}
