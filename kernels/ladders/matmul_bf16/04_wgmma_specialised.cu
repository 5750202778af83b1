// title: wgmma, specialised warpgroups
// idea: four warps only copy, one per stage, and two warpgroups only multiply; they synchronise at a pair
//       of named barriers per stage instead of a block barrier per tile. Blocks are persistent, so that
//       copies for the next tile of C are in flight while this one is written
// block: 384
// grid: min(sm, ceil(m / 128) * ceil(n / 256))
// shared: 4 * (128 + 256) * 128
// dtypes: bfloat16
// needs: sm_90a
// source: NVIDIA CUTLASS (warp specialisation); pranjalssh, fast.cu
#include "../matmul/tile_order.cuh"
#include "named_barrier.cuh"
#include "store.cuh"
#include "tile.cuh"
#include "wgmma_shapes.cuh"

constexpr int kRows = 128;  // of C per block
constexpr int kCols = 256;
constexpr int kGroupRows = 64;     // of a multiplying warpgroup
constexpr int kGroupThreads = 128;
constexpr int kThreads = 3 * kGroupThreads;
constexpr int kStages = 4;
constexpr int kMeeting = 32 + 2 * kGroupThreads;  // threads at the barriers of a stage
static_assert(kStages * 32 == kGroupThreads, "a copying warp for each stage");
constexpr int kStageBytes = (kRows + kCols) * kRowBytes;
constexpr int kStepBytes = 32;  // 16 values

// Copying warps report a stage full, multiplying warps report it empty.
__device__ __forceinline__ int full(unsigned t) { return 1 + t % kStages; }
__device__ __forceinline__ int empty(unsigned t) { return 1 + kStages + t % kStages; }

// Warp w copies the steps w, w + kStages, ... of all tiles of C of this block. A warp waits for its own
// copies alone, so that the fence that must follow them does not delay other stages.
__device__ __forceinline__ void copy_all(unsigned char* shared, const bf16* a, const bf16* b, long long count,
                                         long long m, long long n, long long k) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool aligned = chunks_aligned(a, k) && chunks_aligned(b, k);
  unsigned char* to = shared + warp * kStageBytes;
  unsigned t = 0;  // steps so far
  for (long long index = blockIdx.x; index < count; index += gridDim.x) {
    const Tile tile = tile_of<kRows, kCols, 16>(index, m, n);
    const bf16* from_a = a + tile.row * k;
    const bf16* from_b = b + tile.col * k;
    for (long long k0 = 0; k0 < k; k0 += kDepth, ++t) {
      if (t % kStages != warp) continue;
      if (t >= kStages) meet(empty(t), kMeeting);
      copy_tile<kRows, 32>(to, from_a + k0, lane, m - tile.row, k - k0, k, aligned);
      copy_tile<kCols, 32>(to + kRows * kRowBytes, from_b + k0, lane, n - tile.col, k - k0, k, aligned);
      commit_copies();
      wait_copies<0>();
      fence_async_proxy();
      report(full(t), kMeeting);
    }
  }
  if (t > warp) meet(empty(warp), kMeeting);  // every arrival has a matching wait
}

__device__ __forceinline__ void multiply_all(const unsigned char* shared, float* c, long long count, long long m,
                                             long long n, long long k) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int group = warp / 4 - 1;
  unsigned t = 0;
  for (long long index = blockIdx.x; index < count; index += gridDim.x) {
    float sum[128];
#pragma unroll
    for (int i = 0; i < 128; ++i) sum[i] = 0.0f;
    const unsigned first = t;
    for (long long k0 = 0; k0 < k; k0 += kDepth, ++t) {
      meet(full(t), kMeeting);
      const unsigned char* stage = shared + t % kStages * kStageBytes;
      const unsigned char* rows = stage + group * kGroupRows * kRowBytes;
      const unsigned char* cols = stage + kRows * kRowBytes;
      fence_registers();
#pragma unroll
      for (int s = 0; s < kDepth / 16; ++s)
        Wgmma<256, false, false>::run(sum, describe_tile(rows + s * kStepBytes), describe_tile(cols + s * kStepBytes),
                                      1);
      commit_products();
      wait_products<1>();  // of the previous step; this one continues
      if (t > first) report(empty(t - 1), kMeeting);
    }
    wait_products<0>();
    report(empty(t - 1), kMeeting);

    const Tile tile = tile_of<kRows, kCols, 16>(index, m, n);
    const long long row = tile.row + group * kGroupRows + warp % 4 * 16 + lane / 4;
    const long long col = tile.col + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      store2(c, row, col + j * 8, m, n, sum[4 * j], sum[4 * j + 1]);
      store2(c, row + 8, col + j * 8, m, n, sum[4 * j + 2], sum[4 * j + 3]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    matmul_bf16(const bf16* __restrict__ a, const bf16* __restrict__ b, float* __restrict__ c, long long m, long long n,
                long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const long long count = ((m + kRows - 1) / kRows) * ((n + kCols - 1) / kCols);
  if (threadIdx.x < kGroupThreads)
    copy_all(shared_bytes, a, b, count, m, n, k);
  else
    multiply_all(shared_bytes, c, count, m, n, k);
}
