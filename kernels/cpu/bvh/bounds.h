// Boxes for the builder, in four lanes x, y, z, (unused). Lower corners are stored negated, so that growing
// a box is a maximum on both sides.
#pragma once
#include <cstring>

#include "build.h"

namespace rt {

struct V4 {
  typedef float Lanes __attribute__((vector_size(16)));
  typedef int32_t Integers __attribute__((vector_size(16)));
  Lanes v;
  float operator[](int i) const { return v[i]; }
};
inline V4 v4(float a) { return {V4::Lanes{a, a, a, a}}; }
inline V4 v4(float x, float y, float z, float w) { return {V4::Lanes{x, y, z, w}}; }
inline V4 load4(const float* p) { return v4(p[0], p[1], p[2], p[3]); }
inline V4 operator+(V4 a, V4 b) { return {a.v + b.v}; }
inline V4 operator-(V4 a, V4 b) { return {a.v - b.v}; }
inline V4 operator*(V4 a, V4 b) { return {a.v * b.v}; }
inline V4 max4(V4 a, V4 b) { return {a.v > b.v ? a.v : b.v}; }
inline V4 splat_w(V4 a) { return v4(a.v[3]); }
// xy + yz + zx
inline float pair_sum(V4 a) { return a[0] * a[1] + a[1] * a[2] + a[2] * a[0]; }
inline void truncate4(V4 a, int32_t* out) {
  const V4::Integers i = __builtin_convertvector(a.v, V4::Integers);
  std::memcpy(out, &i, sizeof i);
}
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
