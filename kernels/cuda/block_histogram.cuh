// A histogram of 256 bins: each block counts in shared memory and adds its counts to the result once, for
// film statistics (film_keys.cuh) and for bytes (bench). The template argument Keys defines the keys:
//   Word, kPerWord         type of one load, and its number of keys
//   words, loose           number of whole words; of keys outside of them, at most 32
//   load(at)               word `at`
//   key(word, i, at)       key i of the word loaded from `at`, 0 to 255
//   loose_key(i)           key i outside of whole words
#pragma once
#include "../core/compat.h"
#include "warp_reduce.cuh"

namespace rt {

constexpr int kBins = 256;

// Counters of one block. With 32 copies, copy c of bin b is word 32 b + c: lane c of a warp counts in
// memory bank c, without bank conflicts for any keys.
template <int kCopies, int kThreads>
struct BlockBins {
  static_assert(kCopies == 1 || kCopies == 32, "one copy, or one per lane");
  static_assert(kThreads % 32 == 0 && kThreads >= kBins, "whole warps, and a thread for each bin");
  unsigned* counts;  // [kBins][kCopies], shared
  unsigned* own;     // copy of bin 0 of this thread

  RT_DEVICE explicit BlockBins(unsigned* shared) : counts(shared) {
    unsigned copy = threadIdx.x % kCopies;
    // Opaque to the compiler, which would otherwise compute addresses with five instructions instead of four.
    asm("" : "+r"(copy));
    own = shared + copy;
  }
  RT_DEVICE void clear() {
#pragma unroll
    for (int first = 0; first < kBins * kCopies; first += kThreads) {
      int i = first + threadIdx.x;
      if (i < kBins * kCopies) counts[i] = 0;
    }
  }
  RT_DEVICE void count(unsigned key) { atomicAdd(own + key * kCopies, 1u); }

  // Adds the counts of the block to bins; by all threads of the block, after a barrier.
  RT_DEVICE void add_to(unsigned* bins) {
    unsigned total = 0;
    int bin = threadIdx.x;
    bool owner = bin < kBins;
    if constexpr (kCopies == 1) {
      if (owner) total = counts[bin];
    } else {
      // A warp sums the 32 copies of one bin at a time; lane k keeps the sum of bin k.
      constexpr int kPerWarp = kBins / (kThreads / 32);
      int lane = threadIdx.x % 32, first = threadIdx.x / 32 * kPerWarp;
#pragma unroll
      for (int k = 0; k < kPerWarp; k++) {
        unsigned sum = warp_add(counts[(first + k) * kCopies + lane]);
        if (lane == k) total = sum;
      }
      bin = first + lane;
      owner = lane < kPerWarp;
    }
    if (owner && total != 0) atomicAdd(bins + bin, total);  // adjacent bins: few transactions
  }
};

// Keys outside of whole words, counted by the first warp of the grid.
template <class Bins, class Keys>
RT_DEVICE void count_loose(Bins& counts, const Keys& keys) {
  if (blockIdx.x == 0 && (int)threadIdx.x < keys.loose) counts.count(keys.loose_key(threadIdx.x));
}

template <class Bins, class Keys>
RT_DEVICE void count_word(Bins& counts, const Keys& keys, const typename Keys::Word& word, long long at) {
#pragma unroll
  for (int i = 0; i < Keys::kPerWord; i++) counts.count(keys.key(word, i, at));
}

// All keys by a grid of any size, with kLoads independent loads per thread. Those of the next iteration are issued before
// the keys of this one are counted: memory stays busy while the block counts, and the first loads are in flight while it
// clears its counters.
template <int kCopies, int kThreads, int kLoads, class Keys>
RT_DEVICE void histogram_block(const Keys& keys, unsigned* shared, unsigned* bins) {
  BlockBins<kCopies, kThreads> counts(shared);
  long long stride = (long long)gridDim.x * kThreads;
  long long i = (long long)blockIdx.x * kThreads + threadIdx.x;
  typename Keys::Word words[kLoads];
  bool whole = i + (kLoads - 1) * stride < keys.words;
  if (whole) {
#pragma unroll
    for (int k = 0; k < kLoads; k++) words[k] = keys.load(i + k * stride);
  }
  counts.clear();
  __syncthreads();
  count_loose(counts, keys);
  while (whole) {
    i += kLoads * stride;
    whole = i + (kLoads - 1) * stride < keys.words;
    typename Keys::Word next[kLoads];
    if (whole) {
#pragma unroll
      for (int k = 0; k < kLoads; k++) next[k] = keys.load(i + k * stride);
    }
#pragma unroll
    for (int k = 0; k < kLoads; k++) count_word(counts, keys, words[k], i - (kLoads - k) * stride);
#pragma unroll
    for (int k = 0; k < kLoads; k++) words[k] = next[k];
  }
  for (; i < keys.words; i += stride) count_word(counts, keys, keys.load(i), i);
  __syncthreads();
  counts.add_to(bins);
}

}  // namespace rt
