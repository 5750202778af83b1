// Linear light to sRGB code values (IEC 61966-2-1).
#pragma once
#include "../core/number.h"

namespace RT_NS {

// x in [0, 1]; anything else is clipped, NaN becomes 0
template <class F> RT_HD F srgb_encode(F x) {
  x = min_(max_(x, F(0.0f)), F(1.0f));
  F curve = fma_(F(1.055f), fast_pow(x, F(1.0f / 2.4f)), F(-0.055f));
  return select(x <= F(0.0031308f), F(12.92f) * x, curve);
}

// code value of a channel, 0..levels; round: 0.5 takes the nearest, a dither's threshold one beside it
template <class F> RT_HD UintOf<F> quantize(F x, float levels, F round) { return to_uint(fma_(x, F(levels), round)); }

// 1 / coverage of a film's pixel, whose sums are premultiplied by it; 0 where there is none. The limits are
// beyond what samples can add up to.
constexpr float kLeastCoverage = 1e-6f, kMostLight = 1e30f;
template <class F> RT_HD F limited_coverage(F alpha_sum) {
  return min_(max_(alpha_sum, F(kLeastCoverage)), F(kMostLight));
}

}  // namespace RT_NS
