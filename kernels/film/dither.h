// Ordered dither: the threshold of a pixel in Bayer's 8 x 8 matrix.
#pragma once
#include "../core/number.h"

namespace RT_NS {

// Distance from a code value within which light is rounded to it, so that flat colours stay exact in spite of
// rounding errors of sums over tens of thousands of samples. The error of the mean is smaller than this.
constexpr float kExactCode = 1.0f / 32.0f;

// Each of 64 values once per 8 x 8 pixels, evenly from kExactCode to 1 - kExactCode. Interleaved bits of x ^ y
// and y, lowest first, form the matrix entry (Bayer 1973). The middle of each step preserves the mean.
template <class U> RT_HD auto dither_threshold(U x, U y) {
  U m = x ^ y;
  U n = ((m & U(1u)) << 5) | ((y & U(1u)) << 4) | ((m & U(2u)) << 2) | ((y & U(2u)) << 1) | ((m & U(4u)) >> 1) |
        ((y & U(4u)) >> 2);
  using F = decltype(to_float(n));
  constexpr float step = (1.0f - 2.0f * kExactCode) / 64.0f;
  return fma_(to_float(n), F(step), F(0.5f * step + kExactCode));
}

}  // namespace RT_NS
