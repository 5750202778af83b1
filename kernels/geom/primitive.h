// The interface of primitives for the builder, traversal and shading, which use neither centre nor radius.
// Another kind of primitive is a struct with functions of these names, and a record.
#pragma once
#include "sphere.h"

namespace RT_NS {

// The kind of primitive in leaves.
template <class F> using Primitive = Sphere<F>;

// The record of a primitive, float32: Python gives its numbers as columns, the builder puts records in leaf order.
constexpr int kPrimitiveFloats = 4;  // x, y, z, radius; a multiple of 4
constexpr int kPrimitiveWords = kPrimitiveFloats / 4;

template <class F> RT_HD Primitive<F> unpack_primitive(const F (&r)[kPrimitiveFloats]) {
  return {{r[0], r[1], r[2]}, r[3]};
}

// What the builder asks of a record: the box around the primitive, its lower corner negated, and the point by
// which primitives are sorted. V: four lanes x, y, z, (unused).
template <class V>
struct PrimitiveBox {
  V neg_lo, hi, center;
};

template <class V> RT_HD PrimitiveBox<V> primitive_box(const V (&words)[kPrimitiveWords]) {
  const V s = words[0], radius = splat_w(s);
  return {radius - s, s + radius, s};
}

// the same primitive in each lane
template <class F> RT_HD Sphere<F> splat_primitive(const Sphere<float>& s) {
  return {splat3<F>(s.center), F(s.radius)};
}

// The primitive relative to the origin of a ray, as required by the functions below that take a direction.
template <class F> RT_HD Sphere<F> relative_to(const Sphere<F>& s, Vec3<F> origin) {
  return {s.center - origin, s.radius};
}

// First step of a test; nearest_hit and blocks are the second.
template <class F> RT_HD Chord<F> primitive_test(const Sphere<F>& s, Vec3<F> direction) {
  return sphere_chord(s.center, s.radius, direction);
}

// false if the line of the ray misses
template <class F> RT_HD MaskOf<F> is_reached(const Chord<F>& c) { return c.half2 >= F(0.0f); }

// nearest t > 0; no hit: negative
template <class F> RT_HD F nearest_hit(const Sphere<F>& s, const Chord<F>& c) { return sphere_nearest(c, s.radius); }

// Whether there is a hit in (0, t_max).
template <class F> RT_HD MaskOf<F> occludes(const Sphere<F>& s, const Chord<F>& c, F t_max) {
  return sphere_occludes(c, s.radius, t_max);
}

// Where the line of a ray is inside a primitive, which is a convex solid.
template <class F>
struct Interval {
  F near, far;
};

// of a line that reaches the primitive
template <class F> RT_HD Interval<F> primitive_interval(const Sphere<F>& s, const Chord<F>& c) {
  const F half = sqrt_(max_(c.half2, F(0.0f)));
  return {c.mid - half, c.mid + half};
}

// A bounding sphere for culling, relative to the same origin as the primitive.
template <class F> RT_HD Sphere<F> bounding_sphere(const Sphere<F>& s) { return s; }

// Surface point of a hit; the primitive is not relative here.
template <class F> RT_HD SurfacePoint<F> primitive_surface(const Sphere<F>& s, Vec3<F> origin, Vec3<F> direction) {
  return sphere_surface(s.center, s.radius, origin, direction);
}

// Bound of the distance of a surface point from the surface.
template <class F> RT_HD F primitive_error(const Sphere<F>& s) { return surface_error(s.center, s.radius); }

// t at which a ray from a surface point hits the same primitive again, if it stays inside
template <class F> RT_HD F hit_again(const Sphere<F>& s, const SurfacePoint<F>& p, Vec3<F> direction) {
  return inner_chord(s.radius, dot(direction, p.normal));
}

}  // namespace RT_NS
