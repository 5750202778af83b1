// Keys by which primitives lie along a curve: 21 bits an axis of their centres, interleaved (Morton 1966).
#pragma once
#include "../../core/float_key.h"
#include "../warp_reduce.cuh"
#include "state.cuh"

namespace rt {

RT_DEVICE float centers(const PrimitiveRecord& r, int axis) {
  return axis == 0 ? r.word[0].x : axis == 1 ? r.word[0].y : r.word[0].z;
}

// The bounds of all centres, by blocks of any number.
RT_DEVICE void add_bounds(const Build& b) {
  float lo[3] = {kInfinity, kInfinity, kInfinity}, hi[3] = {-kInfinity, -kInfinity, -kInfinity};
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < b.total(); i += gridDim.x * blockDim.x) {
    if (b.is_apart(i)) continue;
    const PrimitiveRecord r = load_record(b.records + i);
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
      lo[axis] = fminf(lo[axis], centers(r, axis)), hi[axis] = fmaxf(hi[axis], centers(r, axis));
  }
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t low = warp_least(float_key(lo[axis])), high = warp_least(~float_key(hi[axis]));
    if ((threadIdx.x & 31u) == 0) atomicMax(&b.state->low[axis], ~low), atomicMax(&b.state->high[axis], ~high);
  }
}

// 21 bits, each followed by two zeros
RT_DEVICE uint64_t spread(uint32_t a) {
  uint64_t x = a & 0x1fffffu;
  x = (x | x << 32) & 0x001f00000000ffffull;
  x = (x | x << 16) & 0x001f0000ff0000ffull;
  x = (x | x << 8) & 0x100f00f00f00f00full;
  x = (x | x << 4) & 0x10c30c30c30c30c3ull;
  return (x | x << 2) & 0x1249249249249249ull;
}

// Writes the keys, and counts their digits for each pass of the sort. shared: kSortPasses * kDigits counters.
// Primitives beside the tree have the last keys. has_bounds: whether those of the packing are those of the tree.
RT_DEVICE void write_keys(const Build& b, bool has_bounds, uint32_t* shared) {
  for (uint32_t k = threadIdx.x; k < kSortPasses * kDigits; k += blockDim.x) shared[k] = 0;
  __syncthreads();
  float lo[3], extent = 0.0f;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    lo[axis] = key_float(has_bounds ? b.state->packed.low[axis] : ~b.state->low[axis]);
    const float hi = key_float(has_bounds ? ~b.state->packed.high[axis] : b.state->high[axis]);
    extent = fmaxf(extent, hi - lo[axis]);
  }
  const float scale = extent > 0.0f ? 2097151.0f / extent : 0.0f;
  for (uint32_t begin = blockIdx.x * blockDim.x; begin < b.total(); begin += gridDim.x * blockDim.x) {
    const uint32_t i = begin + threadIdx.x;
    const bool exists = i < b.total();
    uint64_t key = ~0ull;
    if (exists && !b.is_apart(i)) {
      const PrimitiveRecord r = load_record(b.records + i);
      uint64_t bits[3];
#pragma unroll
      for (int axis = 0; axis < 3; ++axis)
        bits[axis] = spread((uint32_t)fminf(2097151.0f, (centers(r, axis) - lo[axis]) * scale));
      key = bits[0] << 2 | bits[1] << 1 | bits[2];
    }
    if (exists) b.keys[0][i] = key;
    const uint32_t warp = __ballot_sync(~0u, exists);
#pragma unroll
    for (int pass = 0; pass < kSortPasses; ++pass) {
      const uint32_t digit = (uint32_t)(key >> 8 * pass) & (kDigits - 1);
      // neighbours often have the same upper digits, and would wait for each other
      const uint32_t first = __shfl_sync(~0u, digit, 0);
      if (__all_sync(~0u, digit == first || !exists)) {
        if ((threadIdx.x & 31u) == 0 && warp) atomicAdd(&shared[pass * kDigits + first], (uint32_t)__popc(warp));
      } else if (exists) {
        atomicAdd(&shared[pass * kDigits + digit], 1u);
      }
    }
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < kSortPasses * kDigits; k += blockDim.x)
    if (shared[k]) atomicAdd(&b.state->histogram[0][0] + k, shared[k]);
}

}  // namespace rt
