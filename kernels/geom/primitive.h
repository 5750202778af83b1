// The interface of primitives for the builder, traversal and shading, which use neither centre nor radius.
// Another kind of primitive is a struct with functions of these names, and a record.
//
// A scene of spheres alone is rendered by code that knows spheres alone, with records of 16 bytes. With RT_CAPSULES
// every primitive is a capsule, with a record of 32 bytes: spheres are capsules of no length.
#pragma once
#include "capsule.h"

namespace RT_NS {

// The kind of primitive in leaves, and its record, float32: Python gives its numbers as columns, the builder puts
// records in leaf order.
constexpr int kSphereFloats = 4;   // x, y, z, radius
constexpr int kCapsuleFloats = 8;  // x, y, z, radius, half of the axis, tag
#if RT_CAPSULES
template <class F> using Primitive = Capsule<F>;
constexpr int kPrimitiveFloats = kCapsuleFloats;
#else
template <class F> using Primitive = Sphere<F>;
constexpr int kPrimitiveFloats = kSphereFloats;
#endif
constexpr int kPrimitiveWords = kPrimitiveFloats / 4;

template <class F> RT_HD Sphere<F> unpack_primitive(const F (&r)[kSphereFloats]) { return {{r[0], r[1], r[2]}, r[3]}; }
template <class F> RT_HD Capsule<F> unpack_primitive(const F (&r)[kCapsuleFloats]) {
  return {{r[0], r[1], r[2]}, r[3], {r[4], r[5], r[6]}, r[7]};
}

// What the builder asks of a record: the box around the primitive, its lower corner negated, and the point by
// which primitives are sorted. V: four lanes x, y, z, (unused).
template <class V>
struct PrimitiveBox {
  V neg_lo, hi, center;
};

template <class V> RT_HD PrimitiveBox<V> primitive_box(const V (&words)[kSphereFloats / 4]) {
  const V s = words[0], radius = splat_w(s);
  return {radius - s, s + radius, s};
}
template <class V> RT_HD PrimitiveBox<V> primitive_box(const V (&words)[kCapsuleFloats / 4]) {
  const V s = words[0], reach = splat_w(s) + abs4(words[1]);
  return {reach - s, s + reach, s};
}

// the same primitive in each lane
template <class F> RT_HD Sphere<F> splat_primitive(const Sphere<float>& s) {
  return {splat3<F>(s.center), F(s.radius)};
}
template <class F> RT_HD Capsule<F> splat_primitive(const Capsule<float>& c) {
  return {splat3<F>(c.center), F(c.radius), splat3<F>(c.axis), F(c.tag)};
}

// The primitive relative to the origin of a ray, as required by the functions below that take a direction.
template <class F> RT_HD Sphere<F> relative_to(const Sphere<F>& s, Vec3<F> origin) {
  return {s.center - origin, s.radius};
}
template <class F> RT_HD Capsule<F> relative_to(const Capsule<F>& c, Vec3<F> origin) {
  return {c.center - origin, c.radius, c.axis, c.tag};
}

// First step of a test; nearest_hit and occludes are the second.
template <class F> RT_HD Chord<F> primitive_test(const Sphere<F>& s, Vec3<F> direction) {
  return sphere_chord(s.center, s.radius, direction);
}
template <class F> RT_HD CapsuleLine<F> primitive_test(const Capsule<F>& c, Vec3<F> direction) {
  return capsule_line(c.center, c.radius, c.axis, direction);
}

// false if the line of the ray misses
template <class F> RT_HD MaskOf<F> is_reached(const Chord<F>& c) { return c.half2 >= F(0.0f); }
template <class F> RT_HD MaskOf<F> is_reached(const CapsuleLine<F>& l) { return l.half2 >= F(0.0f); }

// nearest t > 0; no hit: negative
template <class F> RT_HD F nearest_hit(const Sphere<F>& s, const Chord<F>& c) { return sphere_nearest(c, s.radius); }
template <class F> RT_HD F nearest_hit(const Capsule<F>& c, const CapsuleLine<F>& l) {
  return capsule_nearest(c.center, c.radius, c.axis, l);
}

// Whether there is a hit in (0, t_max).
template <class F> RT_HD MaskOf<F> occludes(const Sphere<F>& s, const Chord<F>& c, F t_max) {
  return sphere_occludes(c, s.radius, t_max);
}
template <class F> RT_HD MaskOf<F> occludes(const Capsule<F>& c, const CapsuleLine<F>& l, F t_max) {
  const F t = nearest_hit(c, l);
  return (t > F(0.0f)) & (t < t_max);
}

// How far the primitive reaches from its centre along a unit vector, for culling.
template <class F> RT_HD F reach_along(const Sphere<F>& s, Vec3<F>) { return s.radius; }
template <class F> RT_HD F reach_along(const Capsule<F>& c, Vec3<F> direction) {
  return c.radius + abs_(dot(c.axis, direction));
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
template <class F> RT_HD Interval<F> primitive_interval(const Capsule<F>& c, const CapsuleLine<F>& l) {
  const Chord<F> in = chord_at(c.center, c.radius, c.axis, l.direction, entering(l));
  const Chord<F> out = chord_at(c.center, c.radius, c.axis, l.direction, leaving(l));
  return {in.mid - sqrt_(max_(in.half2, F(0.0f))), out.mid + sqrt_(max_(out.half2, F(0.0f)))};
}

// Surface point of a hit; the primitive is not relative here.
template <class F> RT_HD SurfacePoint<F> primitive_surface(const Sphere<F>& s, Vec3<F> origin, Vec3<F> direction) {
  return sphere_surface(s.center, s.radius, origin, direction);
}
template <class F> RT_HD SurfacePoint<F> primitive_surface(const Capsule<F>& c, Vec3<F> origin, Vec3<F> direction) {
  return capsule_surface(c.center, c.radius, c.axis, origin, direction);
}

// Bound of the distance of a surface point from the surface.
template <class F> RT_HD F primitive_error(const Sphere<F>& s) { return surface_error(s.center, s.radius); }
template <class F> RT_HD F primitive_error(const Capsule<F>& c) { return capsule_error(c.center, c.radius, c.axis); }

// t at which a ray from a surface point hits the same primitive again, if it stays inside
template <class F> RT_HD F hit_again(const Sphere<F>& s, const SurfacePoint<F>& p, Vec3<F> direction) {
  return inner_chord(s.radius, dot(direction, p.normal));
}
template <class F> RT_HD F hit_again(const Capsule<F>& c, const SurfacePoint<F>& p, Vec3<F> direction) {
  return capsule_exit(c.center, c.radius, c.axis, p, direction);
}

// The sphere by which a primitive that sends out light is sampled (shade/emitter.h). Capsules are not: paths find them.
template <class F> RT_HD Sphere<F> emitting_sphere(const Sphere<F>& s) { return s; }
template <class F> RT_HD Sphere<F> emitting_sphere(const Capsule<F>& c) { return {c.center, c.radius}; }
template <class F> RT_HD MaskOf<F> is_emitting_sphere(const Capsule<F>& c) { return !(dot(c.axis, c.axis) > F(0.0f)); }

// The row of the colour at a surface point, given that of the capsule, whose halves may differ.
template <class F> RT_HD UintOf<F> color_row(const Capsule<F>& c, const SurfacePoint<F>& p, UintOf<F> row) {
  const UintOf<F> other = as_uint(c.tag);
  const MaskOf<F> is_other = dot(p.position - c.center, c.axis) > F(0.0f);
  return select(!is_other | (other == UintOf<F>(0u)), row, other);
}

}  // namespace RT_NS
