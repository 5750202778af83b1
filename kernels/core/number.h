// The number types that bodies are written over, with one vocabulary: fma_, min_, max_, sqrt_, abs_,
// select, any. This file: plain float and uint32_t (a GPU thread, a scalar loop). CPU lanes: cpu/wide.h.
#pragma once
#include "compat.h"

namespace RT_NS {

// U: unsigned integer of the same shape, M: result of a comparison, Bits: the same as a number, a bit a lane
template <class F> struct Lanes;
template <> struct Lanes<float> {
  using U = uint32_t;
  using M = bool;
  using Bits = bool;
  static constexpr int count = 1;
};
template <class F> using UintOf = typename Lanes<F>::U;
template <class F> using MaskOf = typename Lanes<F>::M;
template <class F> using BitsOf = typename Lanes<F>::Bits;

constexpr float kInfinity = 3.0e38f;  // finite, so that no arithmetic on it makes a NaN
constexpr float kLeastNormal = 1.17549435e-38f;  // the least number of full precision; its inverse is finite

RT_HD float select(bool m, float a, float b) { return m ? a : b; }
RT_HD uint32_t select(bool m, uint32_t a, uint32_t b) { return m ? a : b; }
RT_HD bool any(bool m) { return m; }
RT_HD bool bits(bool m) { return m; }
RT_HD bool mask_from_bits(bool b, bool*) { return b; }
template <class M, class B> RT_HD M mask_from_bits(B b) { return mask_from_bits(b, (M*)nullptr); }
// the same answer for all lanes
template <class F> RT_HD MaskOf<F> splat_mask(bool m) { return F(m ? 1.0f : 0.0f) > F(0.0f); }
// An element of an array in global memory, and of a table that may be in constant memory.
RT_HD float gather(const float* base, uint32_t index) { return load_global(base + (size_t)index); }
RT_HD uint32_t gather(const int32_t* base, uint32_t index) { return (uint32_t)load_global(base + (size_t)index); }
RT_HD float lookup(const float* base, uint32_t index) { return base[index]; }
RT_HD float to_float(uint32_t a) { return (float)a; }
RT_HD uint32_t to_uint(float a) { return (uint32_t)(int32_t)a; }  // towards zero; 0 <= a < 2^31

// log2 and exp2 by our own polynomials: library functions differ between compilers and instruction
// sets, these give the same bits wherever fma_ is fused. Relative errors: log2_, exp2_ below 3e-7, pow_ below
// 2.4e-7 (1 + |b log2(a)|).
template <class F> RT_HD F log2_(F x) {  // x > 0, normal
  using U = UintOf<F>;
  U bits = as_uint(x);
  U e = (bits - U(0x3f3504f3u)) >> 23;  // exponent of x / sqrt(1/2), modulo 512
  F ef = to_float(e & U(511u));
  ef = select(ef > F(255.0f), ef - F(512.0f), ef);
  F m = as_float(bits - (e << 23));  // in [sqrt(1/2), sqrt(2))
  F s = (m - F(1.0f)) / (m + F(1.0f));
  F s2 = s * s;                      // log2(m) = 2/ln2 * atanh(s), odd series
  F p = fma_(s2, F(0.32059889f), F(0.41219858f));
  p = fma_(s2, p, F(0.57707802f));
  p = fma_(s2, p, F(0.96179669f));
  p = fma_(s2, p, F(2.88539008f));
  return fma_(s, p, ef);
}

template <class F> RT_HD F exp2_(F x) {  // x in [-126, 126]
  F shifted = floor_(x + F(0.5f));
  F f = x - shifted;  // in [-0.5, 0.5]
  F p = fma_(f, F(1.5403530e-4f), F(1.3333558e-3f));
  p = fma_(f, p, F(9.6181291e-3f));
  p = fma_(f, p, F(5.5504109e-2f));
  p = fma_(f, p, F(2.4022651e-1f));
  p = fma_(f, p, F(6.9314718e-1f));
  p = fma_(f, p, F(1.0f));
  return p * as_float(to_uint(shifted + F(127.0f)) << 23);
}

// a^b for 0 <= a <= 1, b >= 0; 0^0 = 1
template <class F> RT_HD F pow_(F a, F b) {
  F x = b * log2_(max_(a, F(1e-30f)));
  return select(x < F(-126.0f), F(0.0f), exp2_(max_(x, F(-126.0f))));
}

template <class F>
struct SinCos {
  F sin, cos;
};

// Sine and cosine of 2 pi v for v in [0, 1], absolute error below 2e-7: polynomials in the distance to the nearest
// quarter of a turn, fitted by weighted least squares.
template <class F> RT_HD SinCos<F> sincos_turns(F v) {
  using U = UintOf<F>;
  const U quarter = to_uint(fma_(v, F(4.0f), F(0.5f)));
  const F r = fma_(to_float(quarter), F(-0.25f), v), r2 = r * r;
  F s = fma_(r2, F(-75.240067f), F(81.588127f));
  s = fma_(r2, s, F(-41.341629f));
  s = r * fma_(r2, s, F(6.283185f));
  F c = fma_(r2, F(59.220406f), F(-85.442856f));
  c = fma_(r2, c, F(64.939316f));
  c = fma_(r2, c, F(-19.739208f));
  c = fma_(r2, c, F(1.0f));
  const auto swapped = (quarter & U(1u)) == U(1u);
  const U sign_s = (quarter & U(2u)) << 30, sign_c = ((quarter + U(1u)) & U(2u)) << 30;
  return {as_float(as_uint(select(swapped, c, s)) ^ sign_s), as_float(as_uint(select(swapped, s, c)) ^ sign_c)};
}

// The angle in the first quadrant whose tangent is y / x, for y and x of at least 0, not both 0; relative error below 3e-7:
// an odd polynomial on [0, 1] by weighted least squares.
template <class F> RT_HD F atan_quotient(F y, F x) {
  const F q = min_(x, y) / max_(x, y), q2 = q * q;
  F p = fma_(q2, F(-4.6932544e-3f), F(0.024252327f));
  p = fma_(q2, p, F(-0.059486285f));
  p = fma_(q2, p, F(0.09914285f));
  p = fma_(q2, p, F(-0.14019477f));
  p = fma_(q2, p, F(0.19969723f));
  p = fma_(q2, p, F(-0.3333199f));
  p = q * fma_(q2, p, F(0.9999999f));
  return select(y > x, F(1.5707964f) - p, p);
}

// Where a GPU's approximation will do, it has functions of these names for float (compat.h); elsewhere they
// are the exact ones.
template <class F> RT_HD F fast_log2(F x) { return log2_(x); }
template <class F> RT_HD F fast_exp2(F x) { return exp2_(max_(x, F(-126.0f))); }
template <class F> RT_HD F quotient(F a, F b) { return a / b; }

// a / b; 0 where b is not positive, or too small to have an inverse: what a sample carries whose density is b.
template <class F> RT_HD F by_density(F a, F b) {
  const F divisor = min_(max_(b, F(kLeastNormal)), F(kInfinity));
  return select(b >= F(kLeastNormal), quotient(a, divisor), F(0.0f));
}

// a^b for 0 <= a <= 1, 0 < b
template <class F> RT_HD F fast_pow(F a, F b) {
  F y = fast_exp2(b * fast_log2(max_(a, F(1e-30f))));
  return select(a > F(0.0f), y, F(0.0f));
}

}  // namespace RT_NS
