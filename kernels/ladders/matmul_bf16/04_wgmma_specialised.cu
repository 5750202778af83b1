// title: wgmma, specialised warpgroups
// idea: four warps only copy, one per stage, and two warpgroups only multiply; they meet at two named barriers per stage
//       instead of a block barrier per tile, and persistent blocks copy for the next tile of C while this one is written.
//       Slower than before on an H200 (0.78): a warp must wait for its own copies before it may report them, so that the
//       128 threads that copy have fewer copies in flight than 256 threads that go on. The copy engine needs no such wait
// block: 384
// grid: min(sm, ceil(m / 128) * ceil(n / 256))
// shared: 4 * (128 + 256) * 128
// dtypes: bfloat16
// needs: sm_90a
// source: NVIDIA CUTLASS (warp specialisation); pranjalssh, fast.cu
#include "named_barrier.cuh"
#include "warpgroup_tile.cuh"

constexpr int kGroupThreads = 128, kThreads = (1 + kGroups) * kGroupThreads;
constexpr int kMeeting = 32 + kGroups * kGroupThreads;  // threads at the barriers of a stage
static_assert(kStages * 32 == kGroupThreads, "a copying warp for each stage");

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
      copy_tile<kCols, 32>(to + kBytesA, from_b + k0, lane, n - tile.col, k - k0, k, aligned);
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
  const int group = threadIdx.x / kGroupThreads - 1;
  unsigned t = 0;
  for (long long index = blockIdx.x; index < count; index += gridDim.x) {
    Sums sum;
#pragma unroll
    for (int i = 0; i < kCols / 2; ++i) sum[i] = 0.0f;
    const unsigned first = t;
    for (long long k0 = 0; k0 < k; k0 += kDepth, ++t) {
      meet(full(t), kMeeting);
      multiply_stage(sum, shared + t % kStages * kStageBytes, group);
      wait_products<1>();  // of the previous step; this one continues
      if (t > first) report(empty(t - 1), kMeeting);
    }
    wait_products<0>();
    report(empty(t - 1), kMeeting);
    store_sums(c, sum, tile_of<kRows, kCols, 16>(index, m, n), group, m, n);
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
