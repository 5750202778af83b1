// Three-vectors over any number type: float for a GPU thread, Wide<N> for CPU lanes.
#pragma once
#include "number.h"

namespace RT_NS {

template <class F>
struct Vec3 {
  F x, y, z;
};

template <class F> RT_HD Vec3<F> vec3(F x, F y, F z) { return {x, y, z}; }
template <class F> RT_HD Vec3<F> splat3(const float* p) { return {F(p[0]), F(p[1]), F(p[2])}; }
template <class F> RT_HD Vec3<F> splat3(Vec3<float> v) { return {F(v.x), F(v.y), F(v.z)}; }
template <class F> RT_HD Vec3<F> operator+(Vec3<F> a, Vec3<F> b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
template <class F> RT_HD Vec3<F> operator-(Vec3<F> a, Vec3<F> b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
template <class F> RT_HD Vec3<F> operator*(Vec3<F> a, Vec3<F> b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
template <class F> RT_HD Vec3<F> operator*(F s, Vec3<F> a) { return {s * a.x, s * a.y, s * a.z}; }

// three floats that begin at 3 * index
template <class F> RT_HD Vec3<F> gather3(const float* base, UintOf<F> index) {
  UintOf<F> at = index + index + index;
  return {gather(base, at), gather(base + 1, at), gather(base + 2, at)};
}
template <> RT_HD Vec3<float> gather3<float>(const float* base, uint32_t index) {
  const float* v = base + 3 * (size_t)index;  // may be beyond 2^32
  return {gather(v, 0u), gather(v, 1u), gather(v, 2u)};
}

template <class F> RT_HD Vec3<F> select3(MaskOf<F> m, Vec3<F> a, Vec3<F> b) {
  return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}

// a + s * b
template <class F> RT_HD Vec3<F> fma3(F s, Vec3<F> b, Vec3<F> a) {
  return {fma_(s, b.x, a.x), fma_(s, b.y, a.y), fma_(s, b.z, a.z)};
}
template <class F> RT_HD F dot(Vec3<F> a, Vec3<F> b) { return fma_(a.z, b.z, fma_(a.y, b.y, a.x * b.x)); }
template <class F> RT_HD Vec3<F> normalize(Vec3<F> a) { return (F(1.0f) / sqrt_(dot(a, a))) * a; }
template <class F> RT_HD F max_abs(Vec3<F> a) { return max_(abs_(a.x), max_(abs_(a.y), abs_(a.z))); }

}  // namespace RT_NS
