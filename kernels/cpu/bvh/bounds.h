// Boxes for the builder, in four lanes x, y, z, (unused). Lower corners are stored negated, so that growing
// a box is a maximum on both sides.
#pragma once
#include "build.h"
#if RT_X86
#include <emmintrin.h>
#endif

namespace rt {

#if RT_X86
struct V4 {
  __m128 v;
  float operator[](int i) const { return ((const float*)&v)[i]; }
};
inline V4 v4(float a) { return {_mm_set1_ps(a)}; }
inline V4 v4(float x, float y, float z, float w) { return {_mm_setr_ps(x, y, z, w)}; }
inline V4 load4(const float* p) { return {_mm_loadu_ps(p)}; }
inline V4 operator+(V4 a, V4 b) { return {_mm_add_ps(a.v, b.v)}; }
inline V4 operator-(V4 a, V4 b) { return {_mm_sub_ps(a.v, b.v)}; }
inline V4 operator*(V4 a, V4 b) { return {_mm_mul_ps(a.v, b.v)}; }
inline V4 max4(V4 a, V4 b) { return {_mm_max_ps(a.v, b.v)}; }
inline V4 splat_w(V4 a) { return {_mm_shuffle_ps(a.v, a.v, 0xff)}; }
// xy + yz + zx
inline float pair_sum(V4 a) {
  __m128 p = _mm_mul_ps(a.v, _mm_shuffle_ps(a.v, a.v, _MM_SHUFFLE(3, 0, 2, 1)));
  return _mm_cvtss_f32(_mm_add_ss(_mm_add_ss(p, _mm_shuffle_ps(p, p, 1)), _mm_movehl_ps(p, p)));
}
inline void truncate4(V4 a, int32_t* out) { _mm_storeu_si128((__m128i*)out, _mm_cvttps_epi32(a.v)); }
#else
struct V4 {
  float v[4];
  float operator[](int i) const { return v[i]; }
};
inline V4 v4(float a) { return {{a, a, a, a}}; }
inline V4 v4(float x, float y, float z, float w) { return {{x, y, z, w}}; }
inline V4 load4(const float* p) { return {{p[0], p[1], p[2], p[3]}}; }
#define RT_V4_OP(expr) V4 r; for (int i = 0; i < 4; ++i) r.v[i] = (expr); return r
inline V4 operator+(V4 a, V4 b) { RT_V4_OP(a.v[i] + b.v[i]); }
inline V4 operator-(V4 a, V4 b) { RT_V4_OP(a.v[i] - b.v[i]); }
inline V4 operator*(V4 a, V4 b) { RT_V4_OP(a.v[i] * b.v[i]); }
inline V4 max4(V4 a, V4 b) { RT_V4_OP(a.v[i] > b.v[i] ? a.v[i] : b.v[i]); }
inline V4 splat_w(V4 a) { return v4(a.v[3]); }
inline float pair_sum(V4 a) { return a.v[0] * a.v[1] + a.v[1] * a.v[2] + a.v[2] * a.v[0]; }
inline void truncate4(V4 a, int32_t* out) {
  for (int i = 0; i < 4; ++i) out[i] = (int32_t)a.v[i];
}
#undef RT_V4_OP
#endif

inline V4 abs4(V4 a) { return max4(a, v4(0.0f) - a); }

constexpr float kEmpty = 3.4e38f;

struct alignas(32) Box {  // one AVX register
  V4 neg_lo = v4(-kEmpty), hi = v4(-kEmpty);
  void grow(V4 neg, V4 high) { neg_lo = max4(neg_lo, neg), hi = max4(hi, high); }
  void grow(const Box& b) { grow(b.neg_lo, b.hi); }
  V4 lo() const { return v4(0.0f) - neg_lo; }
  V4 extent() const { return hi + neg_lo; }
  float half_area() const { return pair_sum(extent()); }
};

template <int kFloats> PrimitiveBox<V4> box_of(const Record<kFloats>& r) {
  V4 words[kFloats / 4];
  for (int w = 0; w < kFloats / 4; ++w) words[w] = load4(r.v + 4 * w);
  return primitive_box(words);
}
template <int kFloats> V4 center_of(const Record<kFloats>& r) { return box_of(r).center; }
inline void grow_center(Box& b, V4 c) { b.grow(v4(0.0f) - c, c); }
template <int kFloats> void grow(Box& geometry, Box& centers, const Record<kFloats>& r) {
  PrimitiveBox<V4> p = box_of(r);
  geometry.grow(p.neg_lo, p.hi);
  grow_center(centers, p.center);
}

}  // namespace rt
