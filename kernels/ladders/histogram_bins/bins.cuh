// A histogram with any number of even bins: float32 values, and unsigned integers of 16 and 32 bits.
//   keys   [n]         values; those outside of the bins are not counted
//   edges  [bins + 1]  evenly spaced, of which the first and the last are read; bin b is [edges[b], edges[b + 1])
//   counts [bins]      added to
// The counters of a block are in shared memory; bins that do not fit are divided into slices, each by blocks of its own.
#pragma once
#include "../histogram/byte_keys.cuh"

#ifndef RT_KEY
#define RT_KEY float
#endif

namespace rt {

using Key = RT_KEY;

constexpr int kSliceBins = 24576;  // counters of a block at most: 96 KiB, which every GPU since sm_80 has
constexpr int kMaxSlices = 16;  // more bins are counted in global memory

// Bin of a key; any number that is no bin where the key is outside.
// Integers: (key - lower) / width by a multiplication, whose result is at most one too small.
template <class K> struct BinOf {
  unsigned lower, width, magic;
  RT_DEVICE BinOf(const K* edges, long long bins)
      : lower(edges[0]), width(max((unsigned)(edges[bins] - edges[0]) / (unsigned)bins, 1u)), magic(~0u / width) {}
  RT_DEVICE unsigned operator()(K key) const {
    unsigned offset = (unsigned)key - lower, bin = __umulhi(offset, magic);  // below `lower`: wraps to a large number
    return bin + (offset - bin * width >= width);
  }
};
template <> struct BinOf<float> {
  float lower, upper, scale;
  unsigned last;
  RT_DEVICE BinOf(const float* edges, long long bins)
      : lower(edges[0]), upper(edges[bins]), scale(__fdiv_rn((float)bins, upper - lower)), last((unsigned)bins - 1) {}
  RT_DEVICE unsigned operator()(float key) const {
    if (!(key >= lower && key < upper)) return ~0u;
    return min((unsigned)((key - lower) * scale), last);
  }
};

struct alignas(16) KeyWord {
  static constexpr int kKeys = 16 / (int)sizeof(Key);
  Key v[kKeys];
};

struct Keys : AlignedKeys<Key> {
  using AlignedKeys::AlignedKeys;
  RT_DEVICE KeyWord load(long long i) const {
    KeyWord word;
    *(uint4*)&word = AlignedKeys::load(i);
    return word;
  }
};

// Calls count(bin) for the keys of block `block` of `blocks`; loads of the next words before these are counted.
template <int kThreads, int kLoads, class Count>
RT_DEVICE void for_keys(const Keys& keys, const BinOf<Key>& bin_of, unsigned block, unsigned blocks, Count count) {
  auto count_word = [&](const KeyWord& word) {
#pragma unroll
    for (int k = 0; k < KeyWord::kKeys; k++) count(bin_of(word.v[k]));
  };
  if (block == 0 && (int)threadIdx.x < keys.loose) count(bin_of(keys.loose_key(threadIdx.x)));
  long long stride = (long long)blocks * kThreads, i = (long long)block * kThreads + threadIdx.x;
  KeyWord words[kLoads], next[kLoads];
  bool whole = i + (kLoads - 1) * stride < keys.words;
  if (whole) {
#pragma unroll
    for (int k = 0; k < kLoads; k++) words[k] = keys.load(i + k * stride);
  }
  while (whole) {
    i += kLoads * stride;
    whole = i + (kLoads - 1) * stride < keys.words;
    if (whole) {
#pragma unroll
      for (int k = 0; k < kLoads; k++) next[k] = keys.load(i + k * stride);
    }
#pragma unroll
    for (int k = 0; k < kLoads; k++) count_word(words[k]);
#pragma unroll
    for (int k = 0; k < kLoads; k++) words[k] = next[k];
  }
  for (; i < keys.words; i += stride) count_word(keys.load(i));
}

template <int kThreads>
RT_DEVICE void count_globally(const Keys& keys, const BinOf<Key>& bin_of, unsigned* counts, long long bins) {
  for_keys<kThreads, 1>(keys, bin_of, blockIdx.x, gridDim.x, [&](unsigned bin) {
    if (bin < (unsigned long long)bins) atomicAdd(counts + bin, 1u);
  });
}

// shared: the counters of a block, the bins of its slice.
template <int kThreads, int kLoads>
RT_DEVICE void count_in_blocks(unsigned* shared, const Keys& keys, const BinOf<Key>& bin_of, unsigned* counts,
                               long long bins) {
  unsigned slices = (unsigned)((bins + kSliceBins - 1) / kSliceBins);
  if (slices > kMaxSlices) return count_globally<kThreads>(keys, bin_of, counts, bins);
  unsigned begin = blockIdx.x % slices * kSliceBins;
  unsigned size = (unsigned)min((long long)kSliceBins, bins - begin);
  for (unsigned bin = threadIdx.x; bin < size; bin += kThreads) shared[bin] = 0;
  __syncthreads();
  for_keys<kThreads, kLoads>(keys, bin_of, blockIdx.x / slices, gridDim.x / slices, [&](unsigned bin) {
    bin -= begin;
    if (bin < size) atomicAdd(shared + bin, 1u);
  });
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < size; bin += kThreads)
    if (shared[bin] != 0) atomicAdd(counts + begin + bin, shared[bin]);
}

}  // namespace rt
