// Bytes as keys of the block histogram.
#pragma once
#include "../../cuda/block_histogram.cuh"

namespace rt {

// Bytes, sixteen at a time from the first aligned address.
struct ByteKeys {
  using Word = uint4;
  static constexpr int kPerWord = 16;
  const unsigned char* first;
  int head;  // bytes before the first whole word
  int loose;
  long long words;

  RT_DEVICE ByteKeys(const unsigned char* keys, long long n) : first(keys) {
    long long unaligned = (long long)(0 - (unsigned long long)keys & (sizeof(Word) - 1));
    head = (int)(unaligned < n ? unaligned : n);
    words = (n - head) / (long long)sizeof(Word);
    loose = (int)(n - words * (long long)sizeof(Word));
  }
  RT_DEVICE Word load(long long i) const { return __ldg((const Word*)(first + head) + i); }
  static RT_DEVICE unsigned key(const Word& word, int i, long long) {
    unsigned four = i < 4 ? word.x : i < 8 ? word.y : i < 12 ? word.z : word.w;  // i is a constant after unrolling
    return __byte_perm(four, 0, 0x4440 + i % 4);
  }
  RT_DEVICE unsigned loose_key(int i) const { return first[i < head ? i : i + words * (long long)sizeof(Word)]; }
};

}  // namespace rt
