// Keys of the bench's histograms, which may begin at any address.
#pragma once
#include "../../cuda/block_histogram.cuh"

namespace rt {

// Keys in 16-byte words from the first aligned address, and those before and behind one by one.
template <class Key> struct AlignedKeys {
  using Word = uint4;
  static constexpr int kPerWord = (int)(sizeof(Word) / sizeof(Key));
  const Key* first;
  int head, loose;  // keys before the first whole word; outside of words
  long long words;

  RT_DEVICE AlignedKeys(const Key* keys, long long n) : first(keys) {
    long long unaligned = (long long)((0 - (unsigned long long)keys & (sizeof(Word) - 1)) / sizeof(Key));
    head = (int)(unaligned < n ? unaligned : n);
    words = (n - head) / kPerWord;
    loose = (int)(n - words * kPerWord);
  }
  RT_DEVICE Word load(long long i) const { return __ldg((const Word*)(first + head) + i); }
  RT_DEVICE Key loose_key(int i) const { return first[i < head ? i : i + words * kPerWord]; }
};

struct ByteKeys : AlignedKeys<unsigned char> {
  using AlignedKeys::AlignedKeys;
  static RT_DEVICE unsigned key(const Word& word, int i, long long) {
    unsigned four = i < 4 ? word.x : i < 8 ? word.y : i < 12 ? word.z : word.w;  // i is a constant after unrolling
    return __byte_perm(four, 0, 0x4440 + i % 4);
  }
};

}  // namespace rt
