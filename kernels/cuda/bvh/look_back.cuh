// Sums over all tiles before one, in a single launch: blocks take tiles in their order and publish first the sum of a
// tile, then the sum up to it; the block of a later tile looks back until it meets the latter.
// Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002.
#pragma once
#include "state.cuh"

namespace rt {

// A published number with a tag above `shift`: kSum or kPrefix, plus 2 for each launch that used the memory before.
constexpr uint32_t kSum = 1, kPrefix = 2;
template <int shift> RT_DEVICE uint64_t tagged(uint32_t tag, uint64_t value) { return (uint64_t)tag << shift | value; }
template <int shift> RT_DEVICE uint64_t wait_for(const uint64_t* at, uint32_t tag) {
  uint64_t word;
  do word = load_fresh(at);
  while (word >> shift < tag);
  return word;
}
RT_DEVICE void publish(uint64_t* at, uint64_t word) { *(volatile uint64_t*)at = word; }

// By one thread; tiles are `stride` words apart.
template <int shift> RT_DEVICE uint64_t sum_before(const uint64_t* at, uint32_t tile, size_t stride, uint32_t sum_tag) {
  uint64_t sum = 0;
  while (tile-- > 0) {
    const uint64_t word = wait_for<shift>(at + tile * stride, sum_tag);
    sum += word & ((1ull << shift) - 1);
    if (word >> shift > sum_tag) break;
  }
  return sum;
}

// By a warp, 32 tiles at a time; every lane has the sum.
template <int shift> RT_DEVICE uint64_t warp_sum_before(const uint64_t* at, uint32_t tile, uint32_t sum_tag) {
  const uint32_t lane = threadIdx.x & 31u;
  uint64_t sum = 0;
  for (;;) {
    const bool exists = lane < tile;
    const uint64_t word = exists ? wait_for<shift>(at + (tile - 1 - lane), sum_tag) : tagged<shift>(sum_tag + 1, 0);
    const uint32_t prefixes = __ballot_sync(~0u, word >> shift > sum_tag);
    const uint32_t last = prefixes ? __ffs(prefixes) - 1 : 31u;
    uint64_t part = lane <= last ? word & ((1ull << shift) - 1) : 0;
#pragma unroll
    for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(~0u, part, d);
    sum += part;
    if (prefixes) return sum;
    tile -= 32;
  }
}

// Exclusive sum over the threads of a block, a multiple of 32; `total`: of all. shared: a word per warp.
template <int threads> RT_DEVICE uint64_t block_sum_before(uint64_t value, uint64_t* shared, uint64_t& total) {
  const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
  uint64_t sum = value;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const uint64_t other = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += other;
  }
  if (lane == 31) shared[warp] = sum;
  __syncthreads();
  uint64_t before = 0;
  total = 0;
#pragma unroll
  for (int w = 0; w < threads / 32; ++w) {
    if (w < warp) before += shared[w];
    total += shared[w];
  }
  __syncthreads();
  return before + sum - value;
}

}  // namespace rt
