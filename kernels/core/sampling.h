// Owen-scrambled Sobol points and the reconstruction filters that they sample.
// Point s of a pixel depends on (seed, pixel, s) only, so n samples and then m more are n + m samples.
#pragma once
#include "rng.h"

namespace RT_NS {

template <class U> RT_HD U reverse_bits(U x) {
  x = (x << 16) | (x >> 16);
  x = ((x & U(0x00ff00ffu)) << 8) | ((x & U(0xff00ff00u)) >> 8);
  x = ((x & U(0x0f0f0f0fu)) << 4) | ((x & U(0xf0f0f0f0u)) >> 4);
  x = ((x & U(0x33333333u)) << 2) | ((x & U(0xccccccccu)) >> 2);
  return ((x & U(0x55555555u)) << 1) | ((x & U(0xaaaaaaaau)) >> 1);
}

// Nested uniform (Owen) scramble of a bit-reversed point: each step lets a bit be flipped only by the
// bits below it, which are the more significant ones before the reversal (every factor of a x ^= x * c
// is even). Idea: Laine and Karras 2011; use with hashes: Burley, JCGT 9(4), 2020; constants: Vegdahl 2021.
template <class U> RT_HD U owen_scramble_reversed(U x, U key) {
  x = x ^ (x * U(0x3d20adeau));
  x = x + key;
  x = x * ((key >> 16) | U(1u));
  x = x ^ (x * U(0x05526c56u));
  return x ^ (x * U(0x53a22864u));
}

// The first two Sobol dimensions of sample s, bit-reversed (the scramble above wants them so).
// Dimension 0 is the van der Corput sequence, whose reversal is s itself.
RT_HD uint32_t sobol1_reversed(uint32_t s) {
  uint32_t r = 0;
  for (uint32_t v = 1; s; s >>= 1, v ^= v << 1)  // column i of the Pascal matrix mod 2, reversed
    if (s & 1u) r ^= v;
  return r;
}

template <class U> RT_HD auto unit_float(U x) { return to_float(x >> 8) * decltype(to_float(x))(5.9604645e-8f); }

enum FilterKind : int32_t { kFilterPoint = 0, kFilterBox = 1, kFilterTent = 2, kFilterGaussian = 3 };

// Offset from the pixel's centre, in pixels, distributed as the filter: weights are then all one and
// nothing is splatted. u in [0, 1).
template <class F> RT_HD F filter_sample(int32_t kind, float radius, F u) {
  const F two_u = u + u;
  if (kind == kFilterBox) return F(radius) * (two_u - F(1.0f));
  if (kind == kFilterTent)
    return F(radius) * select(u < F(0.5f), sqrt_(two_u) - F(1.0f), F(1.0f) - sqrt_(max_(F(2.0f) - two_u, F(0.0f))));
  if (kind == kFilterGaussian) {
    // Quantile of the normal distribution cut at 3 sigma = radius: with x = erf(3/sqrt 2) (2u - 1),
    // sqrt(2) erfinv(x) / x is a polynomial in -log2(1 - x^2); least squares on Chebyshev points,
    // degree 7, error below 5e-7 sigma.
    F x = F(0.9973002f) * (two_u - F(1.0f));
    F w = F(0.0f) - log2_(fma_(F(0.0f) - x, x, F(1.0f)));
    F p = fma_(w, F(3.8061766e-8f), F(-1.4573524e-6f));
    p = fma_(w, p, F(2.0130861e-5f));
    p = fma_(w, p, F(-7.0277891e-5f));
    p = fma_(w, p, F(-1.0531111e-3f));
    p = fma_(w, p, F(7.80916e-3f));
    p = fma_(w, p, F(0.22744538f));
    p = fma_(w, p, F(1.2533135f));
    return F(radius * (1.0f / 3.0f)) * (p * x);
  }
  return F(0.0f);
}

// Point of the unit square for sample s of pixel (x, y).
template <class U, class F> RT_HD void sample_point(uint32_t seed, U x, U y, uint32_t s, F& u0, F& u1) {
  U a = owen_scramble_reversed(U(s), pixel_key(seed, x, y, kUseFilterX));
  U b = owen_scramble_reversed(U(sobol1_reversed(s)), pixel_key(seed, x, y, kUseFilterY));
  u0 = unit_float(reverse_bits(a));
  u1 = unit_float(reverse_bits(b));
}

}  // namespace RT_NS
