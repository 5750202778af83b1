// The ray-ellipsoid test: that of the unit sphere, after the affine map that makes a sphere of the ellipsoid. The ray
// begins at its point nearest to the centre, so that lengths before the map are those of the ellipsoid, not of the ray.
#pragma once
#include "sphere.h"

namespace RT_NS {

template <class F>
struct Ellipsoid {
  Vec3<F> center;
  Vec3<F> semi_axes;
  Vec3<F> x, y, z;  // directions of the semi-axes: unit vectors, perpendicular to each other
};

// quaternion: w, x, y, z of length 1, which turns the ellipsoid from the coordinate axes to where it is
template <class F>
RT_HD Ellipsoid<F> oriented_ellipsoid(Vec3<F> center, Vec3<F> semi_axes, F w, F x, F y, F z) {
  const F one(1.0f), two(2.0f), zero(0.0f);
  return {center,
          semi_axes,
          {one - two * fma_(y, y, z * z), two * fma_(x, y, w * z), two * fma_(x, z, zero - w * y)},
          {two * fma_(x, y, zero - w * z), one - two * fma_(x, x, z * z), two * fma_(y, z, w * x)},
          {two * fma_(x, z, w * y), two * fma_(y, z, zero - w * x), one - two * fma_(x, x, y * y)}};
}

// The line of a ray where the ellipsoid is the unit sphere about the origin.
template <class F>
struct UnitLine {
  F mid;  // t of the point nearest to the origin there
  F half2, half;  // half of the chord: squared, relative to the unit sphere; as a difference of t
  Vec3<F> offset, direction;  // that point; change with t
};

// center: relative to the origin of the ray
template <class F> RT_HD UnitLine<F> unit_line(const Ellipsoid<F>& e, Vec3<F> direction) {
  const F mid = dot(e.center, direction);
  const Vec3<F> from_center = fma3(mid, direction, F(-1.0f) * e.center);
  const Vec3<F> scale = {F(1.0f) / e.semi_axes.x, F(1.0f) / e.semi_axes.y, F(1.0f) / e.semi_axes.z};
  const Vec3<F> point = Vec3<F>{dot(e.x, from_center), dot(e.y, from_center), dot(e.z, from_center)} * scale;
  const Vec3<F> along = Vec3<F>{dot(e.x, direction), dot(e.y, direction), dot(e.z, direction)} * scale;
  const F along2 = dot(along, along);
  const F turn = F(0.0f) - dot(point, along) / along2;
  const Vec3<F> offset = fma3(turn, along, point);
  const F half2 = F(1.0f) - dot(offset, offset);
  return {mid + turn, half2, sqrt_(max_(half2, F(0.0f)) / along2), offset, along};
}

template <class F> RT_HD Interval<F> ellipsoid_interval(const Ellipsoid<F>& e, Vec3<F> direction) {
  const UnitLine<F> l = unit_line(e, direction);
  const MaskOf<F> misses = l.half2 < F(0.0f);
  return {select(misses, F(1.0f), l.mid - l.half), select(misses, F(-1.0f), l.mid + l.half)};
}

// As cone_point.
template <class F> RT_HD OutwardPoint<F> ellipsoid_point(const Ellipsoid<F>& e, Vec3<F> direction, MaskOf<F> inside) {
  const UnitLine<F> l = unit_line(e, direction);
  const Vec3<F> p = normalize(fma3(select(inside, l.half, F(0.0f) - l.half), l.direction, l.offset));
  const Vec3<F> on = p * e.semi_axes;
  // divided by the semi-axes relative to the least, so that no square is beyond float32
  const F least = min_(e.semi_axes.x, min_(e.semi_axes.y, e.semi_axes.z));
  const Vec3<F> n = {p.x * (least / e.semi_axes.x), p.y * (least / e.semi_axes.y), p.z * (least / e.semi_axes.z)};
  return {fma3(on.x, e.x, fma3(on.y, e.y, on.z * e.z)), normalize(fma3(n.x, e.x, fma3(n.y, e.y, n.z * e.z)))};
}

}  // namespace RT_NS
