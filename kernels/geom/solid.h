// The primitive of scenes with other solids than spheres: a record of eight numbers with the form in its tag.
//
// Round capsules, and spheres as capsules of no length, are in the record whole, and flat capsules, which are cones
// of one radius. The record of another form has the middle of its box and half of the box's edges instead of half of
// an axis, so that all that bounds a solid reads it alike, and as its radius the bits of a number: the row of its
// own numbers, behind all records. As a length that number is below 1e-18, which is nothing beside a box. A triangle
// is recorded as they are, although it is no solid: what is inside of it is a point of the ray.
#pragma once
#include "capsule.h"
#include "cone.h"
#include "ellipsoid.h"
#include "triangle.h"

// Whether there may be other forms than round capsules. Kernels without them call no function, and spill less.
#if !defined(RT_FORMS)
#define RT_FORMS 1
#endif

namespace RT_NS {

constexpr int kSolidFloats = 8;  // x, y, z, radius, half of the axis, tag

// Rows of numbers: of a cone the way from the middle of its box to that of its axis, the radius of the start, half of
// the axis, and the radius of the end; of an ellipsoid the semi-axes and the orientation: x, y, z, w.
// A triangle has two rows: the corners, in render space; bits of the normals at the corners (unpack_normal), of the rows
// of the colours there, and of the number of the first triangle of its mesh.
enum SolidForm { kRoundCapsule, kFlatCapsule, kConeForm, kEllipsoidForm };

// tag: form, whether the colour changes evenly, row of the colour at the end (0: that of the start). An ellipsoid whose
// colour changed evenly is a triangle; in place of a row it has bits for what there is at its corners.
constexpr int kFormShift = 30;
constexpr uint32_t kEvenColors = 1u << 29, kColorRows = kEvenColors - 1u;
constexpr uint32_t kTriangleForm = 2u * kEllipsoidForm + 1u;  // with that bit
// kClosedMesh: what is behind the triangle, where its corners are seen clockwise, is inside of the mesh: for glass
constexpr uint32_t kCornerNormals = 1u, kCornerColors = 2u, kClosedMesh = 4u;
constexpr int kTriangleRows = 2;

template <class F>
struct SolidRecord {
  Vec3<F> center;
  F radius;
  Vec3<F> axis;
  F tag;
  const float* records;  // of the scene
};

template <class F>
struct Solid : SolidRecord<F> {
  Vec3<F> origin;  // to which the centre is relative
};

template <class F> RT_HD UintOf<F> form_of(const SolidRecord<F>& s) { return as_uint(s.tag) >> kFormShift; }
template <class F> RT_HD MaskOf<F> is_round(const SolidRecord<F>& s) {
#if RT_FORMS
  return form_of(s) == UintOf<F>(kRoundCapsule);
#else
  return splat_mask<F>(true);
#endif
}
template <class F> RT_HD MaskOf<F> is_triangle(const SolidRecord<F>& s) {
#if RT_FORMS
  return (as_uint(s.tag) >> (kFormShift - 1)) == UintOf<F>(kTriangleForm);
#else
  return splat_mask<F>(false);
#endif
}
template <class F> RT_HD MaskOf<F> is_triangle_with(const SolidRecord<F>& s, uint32_t bit) {
  return is_triangle(s) & !((as_uint(s.tag) & UintOf<F>(bit)) == UintOf<F>(0u));
}
template <class F> RT_HD MaskOf<F> has_row(const SolidRecord<F>& s) {
#if RT_FORMS
  return !(form_of(s) < UintOf<F>(kConeForm));
#else
  return splat_mask<F>(false);
#endif
}

// The numbers of a solid whose record does not hold them; of another one those of the first record.
template <class F>
struct SolidRow {
  Vec3<F> first;
  F fourth;
  Vec3<F> second;
  F last;
};

template <class F> RT_HD SolidRow<F> load_row(const SolidRecord<F>& s) {
  const UintOf<F> at = select(has_row(s), as_uint(s.radius), UintOf<F>(0u)) << 3;
  const float* r = s.records;
  return {{gather(r, at), gather(r + 1, at), gather(r + 2, at)},
          gather(r + 3, at),
          {gather(r + 4, at), gather(r + 5, at), gather(r + 6, at)},
          gather(r + 7, at)};
}

template <class F> RT_HD Cone<F> cone_of(const SolidRecord<F>& s, const SolidRow<F>& row) {
  const MaskOf<F> own = form_of(s) == UintOf<F>(kConeForm);
  return {select3(own, s.center + row.first, s.center), select(own, row.fourth, s.radius),
          select3(own, row.second, s.axis), select(own, row.last, s.radius)};
}

template <class F> RT_HD Ellipsoid<F> ellipsoid_of(const SolidRecord<F>& s, const SolidRow<F>& row) {
  const MaskOf<F> own = form_of(s) == UintOf<F>(kEllipsoidForm);
  const Vec3<F> ball = {F(1.0f), F(1.0f), F(1.0f)};
  return oriented_ellipsoid(s.center, select3(own, row.first, ball), row.last, row.fourth, row.second.x, row.second.y);
}

// Where the numbers of a triangle begin; of another solid those of the first record.
template <class F> RT_HD UintOf<F> triangle_at(const SolidRecord<F>& s) {
  return select(is_triangle(s), as_uint(s.radius), UintOf<F>(0u)) << 3;
}
template <class F> RT_HD Vec3<F> three_of(const SolidRecord<F>& s, UintOf<F> at) {
  return {gather(s.records, at), gather(s.records + 1, at), gather(s.records + 2, at)};
}
template <class F> RT_HD Triangle<F> load_triangle(const SolidRecord<F>& s) {
  const UintOf<F> at = triangle_at(s);
  return {three_of(s, at), three_of(s, at + UintOf<F>(3u)), three_of(s, at + UintOf<F>(6u))};
}

// Where the line of a ray is inside of a solid that is no round capsule and no triangle; near > far: it misses.
template <class F> RT_CALLED Interval<F> shaped_interval(SolidRecord<F> s, Vec3<F> direction) {
  const UintOf<F> form = form_of(s);
  const MaskOf<F> is_ellipsoid = form == UintOf<F>(kEllipsoidForm);
  const SolidRow<F> row = load_row(s);
  Interval<F> out = {F(1.0f), F(-1.0f)};
  if (any((!is_ellipsoid) & (!(form == UintOf<F>(kRoundCapsule))))) out = cone_interval(cone_of(s, row), direction);
  if (any(is_ellipsoid)) {
    const Interval<F> e = ellipsoid_interval(ellipsoid_of(s, row), direction);
    out = {select(is_ellipsoid, e.near, out.near), select(is_ellipsoid, e.far, out.far)};
  }
  return out;
}

// The point of a ray, twice, where it meets a triangle.
template <class F> RT_CALLED Interval<F> triangle_interval(Solid<F> s, Vec3<F> direction) {
  const TriangleHit<F> hit = triangle_hit(load_triangle(s), s.origin, direction);
  return {select(hit.misses, F(1.0f), hit.t), select(hit.misses, F(-1.0f), hit.t)};
}

// The interval of a solid that is no round capsule, of which there is one at least.
template <class F> RT_HD Interval<F> other_interval(const Solid<F>& s, MaskOf<F> round, Vec3<F> direction) {
  const MaskOf<F> flat = is_triangle(s);
  if (!any(flat)) return shaped_interval<F>(s, direction);
  Interval<F> out = triangle_interval(s, direction);
  if (any((!round) & !flat)) {
    const Interval<F> i = shaped_interval<F>(s, direction);
    out = {select(flat, out.near, i.near), select(flat, out.far, i.far)};
  }
  return out;
}

// Of a solid that is no round capsule, the numbers of its interval take the place of those of the capsule's line:
// half2: of the chord, unsquared; nearest, turn: near and far.
template <class F> RT_HD CapsuleLine<F> primitive_test(const Solid<F>& s, Vec3<F> direction) {
  CapsuleLine<F> l = capsule_line(s.center, s.radius, s.axis, direction);
  const MaskOf<F> round = is_round(s);
  if (any(!round)) {
    const Interval<F> i = other_interval(s, round, direction);
    l.half2 = select(round, l.half2, i.far - i.near);
    l.nearest = select(round, l.nearest, i.near);
    l.turn = select(round, l.turn, i.far);
  }
  return l;
}

// Bound of the distance of a computed surface point from the surface.
template <class F> RT_HD F primitive_error(const SolidRecord<F>& s) {
  return capsule_error(s.center, s.radius, s.axis);
}

// nearest t > 0, as sphere_nearest; no hit: negative
template <class F> RT_HD F nearest_hit(const Solid<F>& s, const CapsuleLine<F>& l) {
  F t = capsule_nearest(s.center, s.radius, s.axis, l);
  const MaskOf<F> round = is_round(s);
  if (any(!round)) {
    const F miss(-1.0f), near = l.nearest, far = l.turn;
    const F least = F(kSurfaceError) * max_(max_abs(s.axis), s.radius);
    const F shaped = select(near > F(0.0f), near, select(far > least, far, miss));
    t = select(round, t, select(l.half2 < F(0.0f), miss, shaped));
  }
  return t;
}

template <class F> RT_HD Interval<F> primitive_interval(const Solid<F>& s, const CapsuleLine<F>& l) {
  const Interval<F> i = capsule_interval(s.center, s.radius, s.axis, l);
  const MaskOf<F> round = is_round(s);
  return {select(round, i.near, l.nearest), select(round, i.far, l.turn)};
}

template <class F> RT_CALLED SurfacePoint<F> shaped_surface(SolidRecord<F> s, Vec3<F> origin, Vec3<F> direction) {
  SolidRecord<F> seen = s;
  seen.center = s.center - origin;
  const UintOf<F> form = form_of(s);
  const MaskOf<F> is_ellipsoid = form == UintOf<F>(kEllipsoidForm);
  const MaskOf<F> inside = !(shaped_interval(seen, direction).near > F(0.0f));
  const SolidRow<F> row = load_row(s);
  OutwardPoint<F> p = {s.axis, s.axis};
  if (any((!is_ellipsoid) & (!(form == UintOf<F>(kRoundCapsule))))) {
    const Vec3<F> none = {F(0.0f), F(0.0f), F(0.0f)};
    p = cone_point(cone_of(seen, row), direction, inside);
    p.offset = p.offset + select3(form == UintOf<F>(kConeForm), row.first, none);
  }
  if (any(is_ellipsoid)) {
    const OutwardPoint<F> e = ellipsoid_point(ellipsoid_of(seen, row), direction, inside);
    p = {select3(is_ellipsoid, e.offset, p.offset), select3(is_ellipsoid, e.normal, p.normal)};
  }
  const Vec3<F> normal = select(inside, F(-1.0f), F(1.0f)) * p.normal;
  return {fma3(primitive_error(s), normal, s.center + p.offset), normal, inside};
}

// Surface point of a hit on a triangle.
template <class F> RT_CALLED SurfacePoint<F> triangle_surface(SolidRecord<F> s, Vec3<F> origin, Vec3<F> direction) {
  const F zero(0.0f), one(1.0f), minus(-1.0f);
  const Triangle<F> t = load_triangle(s);
  const Vec3<F> weights = triangle_hit(t, origin, direction).weights, across = triangle_normal(t);
  const MaskOf<F> from_behind = dot(across, direction) > zero, closed = is_triangle_with(s, kClosedMesh);
  const Vec3<F> outward = select(from_behind, minus, one) * across;
  SurfacePoint<F> p = {fma3(weights.z, t.c - t.a, fma3(weights.y, t.b - t.a, t.a)), outward,
                       MaskOf<F>(from_behind & closed)};
  const MaskOf<F> is_smooth = is_triangle_with(s, kCornerNormals);
  if (any(is_smooth)) {
    const Vec3<F> packed = three_of(s, triangle_at(s) + UintOf<F>(9u));
    const Triangle<F> normals = {unpack_normal<F>(as_uint(packed.x)), unpack_normal<F>(as_uint(packed.y)),
                                 unpack_normal<F>(as_uint(packed.z))};
    const SurfacePoint<F> q = smooth_point(t, normals, weights, p, direction);
    // rays through glass leave the triangle itself
    p = {select3(is_smooth & !closed, q.position, p.position), select3(is_smooth, q.normal, p.normal), p.inside};
  }
  p.position = fma3(primitive_error(s), outward, p.position);
  return p;
}

template <class F> RT_HD SurfacePoint<F> primitive_surface(const Solid<F>& s, Vec3<F> origin, Vec3<F> direction) {
  const MaskOf<F> round = is_round(s), flat = is_triangle(s);
  SurfacePoint<F> p = capsule_surface(s.center, s.radius, s.axis, origin, direction);
  if (!any(!round)) return p;
  if (any((!round) & !flat)) p = select_point(round, p, shaped_surface<F>(s, origin, direction));
  if (any(flat)) p = select_point(flat, triangle_surface<F>(s, origin, direction), p);
  return p;
}

// t at which a ray from a point on the inner side leaves the solid. Behind a triangle it meets others.
template <class F> RT_HD F hit_again(const Solid<F>& s, const SurfacePoint<F>& p, Vec3<F> direction) {
  const MaskOf<F> round = is_round(s);
  F t = capsule_exit(s.center, s.radius, s.axis, p, direction);
  if (any(!round)) {
    SolidRecord<F> seen = s;
    seen.center = s.center - p.position;
    t = select(round, t, max_(shaped_interval(seen, direction).far, F(0.0f)));
    t = select(is_triangle(s), F(kInfinity), t);
  }
  return t;
}

// How far a solid reaches from its centre along a unit vector at most.
template <class F> RT_HD F reach_along(const Solid<F>& s, Vec3<F> direction) {
  const F along = abs_(dot(s.axis, direction));
  const Vec3<F> d = {abs_(direction.x), abs_(direction.y), abs_(direction.z)};
  const Vec3<F> box = {abs_(s.axis.x), abs_(s.axis.y), abs_(s.axis.z)};
  return s.radius + select(has_row(s), dot(box, d), along);
}

// The rows of the colours at a surface point, and the share of the second.
template <class F>
struct ColorRows {
  UintOf<F> first, second;
  F share;
};

// row: of the solid
template <class F> RT_HD ColorRows<F> color_rows(const Solid<F>& s, const SurfacePoint<F>& p, UintOf<F> row) {
  const UintOf<F> other = select(is_triangle(s), UintOf<F>(0u), as_uint(s.tag) & UintOf<F>(kColorRows));
  const MaskOf<F> one = other == UintOf<F>(0u);
  Vec3<F> axis = s.axis, center = s.center;
  const MaskOf<F> is_cone = has_row(s) & (form_of(s) == UintOf<F>(kConeForm));
  if (any(is_cone & !one)) {
    const Cone<F> c = cone_of(s, load_row(s));
    axis = select3(is_cone, c.axis, axis), center = select3(is_cone, c.center, center);
  }
  const F along = dot(p.position - center, axis);
  const UintOf<F> nearer = select(one | !(along > F(0.0f)), row, other);
  const MaskOf<F> even = !((as_uint(s.tag) & UintOf<F>(kEvenColors)) == UintOf<F>(0u)) & !one;
  const F half = F(0.5f) * along / max_(dot(axis, axis), F(kLeastAxis2));
  const F share = max_(F(0.0f), min_(F(0.5f) + half, F(1.0f)));
  return {select(even, row, nearer), select(even, other, nearer), select(even, share, F(0.0f))};
}

// The number of the solid that a path enters through a primitive of that number: for a triangle one for its mesh.
template <class F> RT_HD UintOf<F> entered_solid(const Solid<F>& s, UintOf<F> number) {
  return select(is_triangle(s), as_uint(gather(s.records + 15, triangle_at(s))), number);
}

// The rows of the colours at the corners of a triangle, and their shares at a surface point.
template <class F>
struct CornerColors {
  UintOf<F> a, b, c;
  Vec3<F> shares;
};

// Of a triangle with kCornerColors.
template <class F> RT_HD CornerColors<F> corner_colors(const Solid<F>& s, const SurfacePoint<F>& p) {
  const Vec3<F> rows = three_of(s, triangle_at(s) + UintOf<F>(12u));
  return {as_uint(rows.x), as_uint(rows.y), as_uint(rows.z), corner_weights(load_triangle(s), p.position)};
}

}  // namespace RT_NS
