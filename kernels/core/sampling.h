// Random numbers of a path, from Owen-scrambled Sobol points, and the reconstruction filters that they sample.
// A number depends on (seed, pixel, sample, bounce, use) only, so n samples and then m more are n + m samples.
#pragma once
#include "enums.h"
#include "rng.h"
#include "vec.h"

namespace RT_NS {

template <class U> RT_HD U reverse_bits(U x) {
  x = (x << 16) | (x >> 16);
  x = ((x & U(0x00ff00ffu)) << 8) | ((x & U(0xff00ff00u)) >> 8);
  x = ((x & U(0x0f0f0f0fu)) << 4) | ((x & U(0xf0f0f0f0u)) >> 4);
  x = ((x & U(0x33333333u)) << 2) | ((x & U(0xccccccccu)) >> 2);
  return ((x & U(0x55555555u)) << 1) | ((x & U(0xaaaaaaaau)) >> 1);
}
#if defined(__CUDA_ARCH__)  // by one instruction; its compiler does not find it in the above
RT_HD uint32_t reverse_bits(uint32_t x) { return __brev(x); }
#endif

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

// The second Sobol dimension of point s, bit-reversed as the scramble wants it; that of the first, the van der
// Corput sequence, is s itself. Over GF(2), with bits as coefficients, it is s(x + 1): halves are shifted apart
// and then by their own lower halves, as in any Taylor shift.
template <class U> RT_HD U sobol1_reversed(U s) {
  s = s ^ ((s >> 16) & U(0x0000ffffu));
  s = s ^ ((s >> 8) & U(0x00ff00ffu));
  s = s ^ ((s >> 4) & U(0x0f0f0f0fu));
  s = s ^ ((s >> 2) & U(0x33333333u));
  return s ^ ((s >> 1) & U(0x55555555u));
}

template <class U> RT_HD auto unit_float(U x) { return to_float(x >> 8) * decltype(to_float(x))(5.9604645e-8f); }

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

// Which point of its sequence a sample takes in a dimension. The first dimension takes them in order; each other
// shuffles them by a nested permutation of its own, which moves every aligned block of 2^k points as one, so that
// dimensions are independent of each other and each stays stratified (Burley, JCGT 9(4), 2020).
template <class U> RT_HD U sample_index(uint32_t seed, U x, U y, uint32_t s, uint32_t dimension) {
  if (dimension == 0) return U(s);
  return reverse_bits(owen_scramble_reversed(U(reverse_bits(s)), pixel_key(seed, x, y, kShuffle + dimension)));
}

// A number in [0, 1) for sample s of pixel (x, y): what it decides, and after how many bounces.
template <class F> RT_HD F sample_1d(uint32_t seed, UintOf<F> x, UintOf<F> y, uint32_t s, uint32_t bounce,
                                     SampleUse use) {
  const uint32_t dimension = bounce * kSampleUses + use;
  const UintOf<F> index = sample_index(seed, x, y, s, dimension);
  return unit_float(reverse_bits(owen_scramble_reversed(index, pixel_key(seed, x, y, 2 * dimension))));
}

template <class F>
struct Sample2d {
  F u, v;
};

// A point of the unit square; u is sample_1d of the same use. number: of further points of the sample, each of which has
// a scramble of its own and shares the hashes.
template <class F> RT_HD Sample2d<F> sample_2d(uint32_t seed, UintOf<F> x, UintOf<F> y, uint32_t s, uint32_t bounce,
                                               SampleUse use, uint32_t number = 0) {
  const uint32_t dimension = bounce * kSampleUses + use, apart = number * 0x9e3779b9u;
  const UintOf<F> index = sample_index(seed, x, y, s, dimension), turned = sobol1_reversed(index);
  const UintOf<F> u = owen_scramble_reversed(index, pixel_key(seed, x, y, 2 * dimension) + UintOf<F>(apart));
  const UintOf<F> v = owen_scramble_reversed(turned, pixel_key(seed, x, y, 2 * dimension + 1) + UintOf<F>(apart));
  return {unit_float(reverse_bits(u)), unit_float(reverse_bits(v))};
}

// An orthonormal basis with a given unit vector as its z axis (Duff et al., JCGT 6(1), 2017), without singularity.
template <class F>
struct Basis {
  Vec3<F> x, y, z;

  RT_HD Vec3<F> to_local(Vec3<F> v) const { return {dot(v, x), dot(v, y), dot(v, z)}; }
  RT_HD Vec3<F> to_world(Vec3<F> v) const { return fma3(v.x, x, fma3(v.y, y, v.z * z)); }
};

template <class F> RT_HD Basis<F> basis_about(Vec3<F> normal) {
  const F sign = select(normal.z < F(0.0f), F(-1.0f), F(1.0f));
  const F a = F(-1.0f) / (sign + normal.z), b = normal.x * normal.y * a;
  return {{fma_(sign * normal.x * normal.x, a, F(1.0f)), sign * b, F(0.0f) - sign * normal.x},
          {b, fma_(normal.y * normal.y, a, sign), F(0.0f) - normal.y},
          normal};
}

// A unit vector about `normal` with density cosine / pi; p: a point of the unit square.
template <class F> RT_HD Vec3<F> cosine_hemisphere(Vec3<F> normal, Sample2d<F> p) {
  const SinCos<F> phi = sincos_turns(p.v);
  const F radius = sqrt_(p.u), height = sqrt_(max_(F(1.0f) - p.u, F(0.0f)));
  return normalize(basis_about(normal).to_world({radius * phi.cos, radius * phi.sin, height}));
}

}  // namespace RT_NS
