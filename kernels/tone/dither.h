// Ordered dither: the threshold of a pixel in Bayer's 8 x 8 matrix.
#pragma once
#include "../core/number.h"

namespace RT_NS {

// In [0, 1), each of 64 values once in every 8 x 8 pixels. Bits of x ^ y and y in turn, lowest first, make
// the matrix's number (Bayer 1973). The middle of the 64 steps is taken, so that the mean stays.
template <class U> RT_HD auto dither_threshold(U x, U y) {
  U m = x ^ y;
  U n = ((m & U(1u)) << 5) | ((y & U(1u)) << 4) | ((m & U(2u)) << 2) | ((y & U(2u)) << 1) | ((m & U(4u)) >> 1) |
        ((y & U(4u)) >> 2);
  using F = decltype(to_float(n));
  return fma_(to_float(n), F(1.0f / 64.0f), F(0.5f / 64.0f));
}

}  // namespace RT_NS
