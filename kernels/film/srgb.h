// Linear light to sRGB code values (IEC 61966-2-1).
#pragma once
#include "../core/number.h"

namespace RT_NS {

// x in [0, 1]; other values are clipped, NaN becomes 0
template <class F> RT_HD F srgb_encode(F x) {
  x = min_(max_(x, F(0.0f)), F(1.0f));
  F curve = fma_(F(1.055f), fast_pow(x, F(1.0f / 2.4f)), F(-0.055f));
  return select(x <= F(0.0031308f), F(12.92f) * x, curve);
}

// Code value of a channel, 0..levels. round: 0.5 rounds to nearest, a dither threshold may round to the other.
template <class F> RT_HD UintOf<F> quantize(F x, float levels, F round) { return to_uint(fma_(x, F(levels), round)); }

// Coverage of a film pixel, by which its sums are premultiplied, limited for the division. The limits are
// beyond sums of samples.
constexpr float kLeastCoverage = 1e-6f, kMostLight = 1e30f;
template <class F> RT_HD F limited_coverage(F alpha_sum) {
  return min_(max_(alpha_sum, F(kLeastCoverage)), F(kMostLight));
}

}  // namespace RT_NS
