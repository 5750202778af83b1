// Randomness is a function of place: hashes of (seed, pixel, sample, dimension), never a stream.
#pragma once
#include "number.h"

namespace RT_NS {

// Finaliser of MurmurHash3 (Appleby): a bijection of 32 bits in which every bit of x reaches every bit.
template <class U> RT_HD U mix32(U x) {
  x = x ^ (x >> 16);
  x = x * U(0x85ebca6bu);
  x = x ^ (x >> 13);
  x = x * U(0xc2b2ae35u);
  return x ^ (x >> 16);
}

// key of one pixel and one dimension
template <class U> RT_HD U pixel_key(uint32_t seed, U x, U y, uint32_t dimension) {
  U h = mix32(x ^ U(seed * 0x9e3779b9u + dimension * 0x7f4a7c15u + 0x165667b1u));
  return mix32(h + y * U(0x27d4eb2fu));
}

// What a random number decides: its use and its bounce make its dimension.
enum SampleUse : uint32_t { kUseFilter = 0, kUseLight = 1, kUseBsdf = 2, kUseTermination = 3 };
constexpr uint32_t kSampleUses = 4;
constexpr uint32_t kCenterSample = 0xffffffffu;  // no sample: the pixel's centre, as seen without any random number
constexpr uint32_t kShuffle = 0x40000000u;  // keys of shuffles, beyond those of numbers

}  // namespace RT_NS
