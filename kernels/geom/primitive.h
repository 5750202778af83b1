// The interface of primitives for the builder, traversal and shading, which use neither centre nor radius: of spheres
// here, of solids in solid.h as well.
// Another kind of primitive is a struct with functions of these names, and a record.
//
// A scene of spheres alone is rendered by code that knows spheres alone, with records of 16 bytes. With RT_SOLIDS
// every primitive is a solid of any form (solid.h), with a record of 32 bytes: spheres are capsules of no length.
#pragma once
#include "solid.h"

namespace RT_NS {

// The kind of primitive in leaves, and its record, float32: Python gives its numbers as columns, the builder puts
// records in leaf order.
constexpr int kSphereFloats = 4;   // x, y, z, radius
#if RT_SOLIDS
template <class F> using Primitive = Solid<F>;
constexpr int kPrimitiveFloats = kSolidFloats;
#else
template <class F> using Primitive = Sphere<F>;
constexpr int kPrimitiveFloats = kSphereFloats;
#endif
constexpr int kPrimitiveWords = kPrimitiveFloats / 4;

// records: all of the scene
template <class F> RT_HD Sphere<F> unpack_primitive(const F (&r)[kSphereFloats], const float*) {
  return {{r[0], r[1], r[2]}, r[3]};
}
template <class F> RT_HD Solid<F> unpack_primitive(const F (&r)[kSolidFloats], const float* records) {
  return {{{r[0], r[1], r[2]}, r[3], {r[4], r[5], r[6]}, r[7], records}, {F(0.0f), F(0.0f), F(0.0f)}};
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
template <class V> RT_HD PrimitiveBox<V> primitive_box(const V (&words)[kSolidFloats / 4]) {
  const V s = words[0], reach = splat_w(s) + abs4(words[1]);
  return {reach - s, s + reach, s};
}

// the same primitive in each lane
template <class F> RT_HD Sphere<F> splat_primitive(const Sphere<float>& s) {
  return {splat3<F>(s.center), F(s.radius)};
}
template <class F> RT_HD Solid<F> splat_primitive(const Solid<float>& s) {
  return {{splat3<F>(s.center), F(s.radius), splat3<F>(s.axis), F(s.tag), s.records}, splat3<F>(s.origin)};
}

// The primitive relative to the origin of a ray, as required by the functions below that take a direction.
template <class F> RT_HD Sphere<F> relative_to(const Sphere<F>& s, Vec3<F> origin) {
  return {s.center - origin, s.radius};
}
template <class F> RT_HD Solid<F> relative_to(const Solid<F>& s, Vec3<F> origin) {
  return {{s.center - origin, s.radius, s.axis, s.tag, s.records}, origin};
}

// First step of a test; nearest_hit and occludes are the second.
template <class F> RT_HD Chord<F> primitive_test(const Sphere<F>& s, Vec3<F> direction) {
  return sphere_chord(s.center, s.radius, direction);
}

// false if the line of the ray misses
template <class F> RT_HD MaskOf<F> is_reached(const Chord<F>& c) { return c.half2 >= F(0.0f); }
template <class F> RT_HD MaskOf<F> is_reached(const CapsuleLine<F>& l) { return l.half2 >= F(0.0f); }

// false if the line of the ray misses: less work than a whole test
template <class F> RT_HD MaskOf<F> may_reach(const Sphere<F>& s, Vec3<F> direction) {
  return is_reached(primitive_test(s, direction));
}
template <class F> RT_HD MaskOf<F> may_reach(const Solid<F>& s, Vec3<F> direction) {
  return !is_round(s) | (capsule_half2(s.center, s.radius, s.axis, direction) >= F(0.0f));
}

// nearest t > 0; no hit: negative
template <class F> RT_HD F nearest_hit(const Sphere<F>& s, const Chord<F>& c) { return sphere_nearest(c, s.radius); }

// Whether there is a hit in (0, t_max).
template <class F> RT_HD MaskOf<F> occludes(const Sphere<F>& s, const Chord<F>& c, F t_max) {
  return sphere_occludes(c, s.radius, t_max);
}
template <class F> RT_HD MaskOf<F> occludes(const Solid<F>& s, const CapsuleLine<F>& l, F t_max) {
  const F t = nearest_hit(s, l);
  return (t > F(0.0f)) & (t < t_max);
}

// How far the primitive reaches from its centre along a unit vector, for culling.
template <class F> RT_HD F reach_along(const Sphere<F>& s, Vec3<F>) { return s.radius; }

// of a line that reaches the primitive
template <class F> RT_HD Interval<F> primitive_interval(const Sphere<F>&, const Chord<F>& c) {
  const F half = sqrt_(max_(c.half2, F(0.0f)));
  return {c.mid - half, c.mid + half};
}

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

// The sphere by which a primitive that sends out light is sampled (shade/emitter.h). Other solids are not: paths find
// them.
template <class F> RT_HD Sphere<F> emitting_sphere(const Sphere<F>& s) { return s; }
template <class F> RT_HD Sphere<F> emitting_sphere(const Solid<F>& s) { return {s.center, s.radius}; }
template <class F> RT_HD MaskOf<F> is_emitting_sphere(const Solid<F>& s) {
  return is_round(s) & !(dot(s.axis, s.axis) > F(0.0f));
}

}  // namespace RT_NS
