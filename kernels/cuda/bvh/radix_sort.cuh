// One pass of a stable sort by eight bits, least significant digit first, that reads and writes each key once.
// Adinets, Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", arXiv:2206.01784, 2022.
#pragma once
#include "look_back.cuh"

namespace rt {

constexpr int kSortThreads = 256, kSortItems = 12, kSortTile = kSortThreads * kSortItems;
constexpr int kSortWarps = kSortThreads / 32;
static_assert(kSortThreads == kDigits);

struct SortShared {
  union {
    uint64_t keys[kSortTile];
    uint32_t values[kSortTile];
  };
  uint32_t ranks[kSortWarps][kDigits];
  uint32_t base[kDigits];  // place of a digit's keys in the output, less their place in the tile
  uint64_t sums[kSortWarps];
  uint32_t tile;
};

RT_DEVICE uint32_t digit_of(uint64_t key, int pass) { return (uint32_t)(key >> 8 * pass) & (kDigits - 1); }

// The lanes that have the digit of this one.
RT_DEVICE uint32_t lanes_with(uint32_t digit) {
  uint32_t lanes = ~0u;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const bool is_set = digit >> bit & 1u;
    const uint32_t set = __ballot_sync(~0u, is_set);
    lanes &= is_set ? set : ~set;
  }
  return lanes;
}

// The first pass makes the values: the numbers of the primitives.
RT_DEVICE void sort_pass(const Build& b, int pass, SortShared& shared) {
  const uint32_t thread = threadIdx.x, lane = thread & 31u, warp = thread >> 5, count = b.total();
  const bool is_odd = pass & 1;
  const uint64_t* keys_in = is_odd ? b.keys[1] : b.keys[0];
  const uint32_t* values_in = is_odd ? b.values[1] : b.values[0];
  uint64_t* keys_out = is_odd ? b.keys[0] : b.keys[1];
  uint32_t* values_out = is_odd ? b.values[0] : b.values[1];
  if (thread == 0) shared.tile = atomicAdd(&b.state->sort_ticket[pass], 1u);
#pragma unroll
  for (int w = 0; w < kSortWarps; ++w) shared.ranks[w][thread] = 0;
  __syncthreads();
  const uint32_t tile = shared.tile, begin = tile * kSortTile, first = begin + warp * 32 * kSortItems + lane;
  uint64_t key[kSortItems];
  uint32_t place[kSortItems];
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) key[k] = first + 32 * k < count ? keys_in[first + 32 * k] : ~0ull;
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const uint32_t digit = digit_of(key[k], pass), same = lanes_with(digit);
    const uint32_t leader = __ffs(same) - 1;
    uint32_t before = 0;
    if (lane == leader) before = shared.ranks[warp][digit], shared.ranks[warp][digit] = before + __popc(same);
    place[k] = __shfl_sync(~0u, before, leader) + __popc(same & ((1u << lane) - 1u));
    __syncwarp();
  }
  __syncthreads();
  // From here on a thread is a digit.
  uint32_t in_tile = 0;
#pragma unroll
  for (int w = 0; w < kSortWarps; ++w) {
    const uint32_t in_warp = shared.ranks[w][thread];
    shared.ranks[w][thread] = in_tile, in_tile += in_warp;
  }
  uint64_t* status = b.lookback + thread;
  const uint32_t tag = 2 * pass + kSum;
  publish(status + (size_t)tile * kDigits, tagged<32>(tile ? tag : tag + 1, in_tile));
  uint64_t total;
  const uint64_t starts =
      block_sum_before<kSortThreads>((uint64_t)b.state->histogram[pass][thread] << 32 | in_tile, shared.sums, total);
  const uint32_t start = (uint32_t)starts;  // of the digit in the tile
  uint32_t before = 0;
  if (tile) {
    before = (uint32_t)sum_before<32>(status, tile, kDigits, tag);
    publish(status + (size_t)tile * kDigits, tagged<32>(tag + 1, before + in_tile));
  }
  shared.base[thread] = (uint32_t)(starts >> 32) + before - start;
#pragma unroll
  for (int w = 0; w < kSortWarps; ++w) shared.ranks[w][thread] += start;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    place[k] += shared.ranks[warp][digit_of(key[k], pass)];
    shared.keys[place[k]] = key[k];
  }
  __syncthreads();
  const uint32_t last = min((uint32_t)kSortTile, count - begin);
  uint32_t target[kSortItems];
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const uint32_t at = thread + k * kSortThreads;
    if (at >= last) continue;
    const uint64_t sorted = shared.keys[at];
    target[k] = shared.base[digit_of(sorted, pass)] + at;
    keys_out[target[k]] = sorted;
  }
  uint32_t value[kSortItems];
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const uint32_t i = first + 32 * k;
    value[k] = pass == 0 ? i : i < count ? values_in[i] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) shared.values[place[k]] = value[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const uint32_t at = thread + k * kSortThreads;
    if (at < last) values_out[target[k]] = shared.values[at];
  }
}

}  // namespace rt
