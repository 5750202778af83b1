// The ray-capsule test. A capsule is all points within a radius of a segment: a cylinder with round ends. A segment
// of no length is a sphere, and is tested bit for bit as sphere.h does.
//
// A capsule is the union of the spheres of its radius about the points c(s) = center + s axis, s in [-1, 1]. Let t(s)
// be where a ray enters the sphere about c(s). The ray enters the capsule at the minimum of t, which is convex, so that
// the minimum over [-1, 1] is that over all s, which is known in closed form, clamped to the segment. The hit is then
// that of the sphere there: cylinder and ends are one case, and there is no seam between them. At a minimum an error of
// s counts by its square alone, so that t is as precise as that of a sphere although s of a long thin capsule is not.
#pragma once
#include "sphere.h"

namespace RT_NS {

// The line of a ray beside a capsule. axis, here and below: half of the segment
template <class F>
struct CapsuleLine {
  Vec3<F> direction;
  F half2;  // as in Chord, at the point of the segment nearest to the line; negative: the ray misses
  F nearest;  // s at which the axis, without ends, is nearest to the line
  F turn;  // from there to where the line enters the cylinder without ends, and leaves it on the other side
};

// lengths below are those of a segment without length
constexpr float kLeastAxis2 = 1e-36f;

template <class F> RT_HD F on_segment(F s) { return max_(F(-1.0f), min_(s, F(1.0f))); }

// CapsuleLine::half2 alone. to_center: center - origin
template <class F>
RT_HD F capsule_half2(Vec3<F> to_center, F radius, Vec3<F> axis, Vec3<F> direction) {
  const Vec3<F> across = fma3(F(0.0f) - dot(axis, direction), direction, axis);
  const Vec3<F> offset = fma3(F(0.0f) - dot(to_center, direction), direction, to_center);
  const F nearest = (F(0.0f) - dot(offset, across)) / max_(dot(across, across), F(kLeastAxis2));
  const Vec3<F> gap = fma3(on_segment(nearest), across, offset);
  return fma_(radius, radius, F(0.0f) - dot(gap, gap));
}

template <class F>
RT_HD CapsuleLine<F> capsule_line(Vec3<F> to_center, F radius, Vec3<F> axis, Vec3<F> direction) {
  const F along = dot(axis, direction), mid = dot(to_center, direction);
  // perpendicular to the ray
  const Vec3<F> across = fma3(F(0.0f) - along, direction, axis);
  const Vec3<F> offset = fma3(F(0.0f) - mid, direction, to_center);
  const F across2 = max_(dot(across, across), F(kLeastAxis2));
  const F nearest = (F(0.0f) - dot(offset, across)) / across2;
  const F inside = on_segment(nearest), beyond = nearest - inside;
  const Vec3<F> gap = fma3(inside, across, offset);
  const F half2 = fma_(radius, radius, F(0.0f) - dot(gap, gap));
  // that of the cylinder without ends
  const F endless = max_(fma_(beyond * beyond, across2, half2), F(0.0f));
  const F length2 = max_(dot(axis, axis), F(kLeastAxis2));
  return {direction, half2, nearest, sqrt_(endless) * along / (sqrt_(across2) * sqrt_(length2))};
}

// The chord of the sphere at which the ray enters the capsule, and of that at which it leaves it.

template <class F> RT_HD Chord<F> chord_at(Vec3<F> to_center, F radius, Vec3<F> axis, Vec3<F> direction, F s) {
  return sphere_chord(fma3(s, axis, to_center), radius, direction);
}

template <class F> RT_HD F entering(const CapsuleLine<F>& l) { return on_segment(l.nearest - l.turn); }
template <class F> RT_HD F leaving(const CapsuleLine<F>& l) { return on_segment(l.nearest + l.turn); }

// of a line that reaches the capsule
template <class F>
RT_HD Interval<F> capsule_interval(Vec3<F> to_center, F radius, Vec3<F> axis, const CapsuleLine<F>& l) {
  const Chord<F> in = chord_at(to_center, radius, axis, l.direction, entering(l));
  const Chord<F> out = chord_at(to_center, radius, axis, l.direction, leaving(l));
  return {in.mid - sqrt_(max_(in.half2, F(0.0f))), out.mid + sqrt_(max_(out.half2, F(0.0f)))};
}

// Nearest t > 0 on the capsule, as sphere_nearest; no hit: negative.
template <class F> RT_HD F capsule_nearest(Vec3<F> to_center, F radius, Vec3<F> axis, const CapsuleLine<F>& l) {
  const Chord<F> in = chord_at(to_center, radius, axis, l.direction, entering(l));
  const F near = in.mid - sqrt_(max_(in.half2, F(0.0f)));
  const MaskOf<F> misses = l.half2<F(0.0f), starts_outside = near> F(0.0f);
  F t = near;
  if (any((!misses) & (!starts_outside))) {
    const Chord<F> out = chord_at(to_center, radius, axis, l.direction, leaving(l));
    const F far = out.mid + sqrt_(max_(out.half2, F(0.0f)));
    const F depth2 = fma_(F(0.0f) - out.mid, out.mid, out.half2);
    const MaskOf<F> leaves = (!(out.mid > F(0.0f))) & (depth2 <= F(kSurfaceError) * (radius * radius));
    t = select(starts_outside, near, select(leaves, F(-1.0f), far));
  }
  return select(misses, F(-1.0f), t);
}

template <class F> RT_HD F capsule_error(Vec3<F> center, F radius, Vec3<F> axis) {
  return F(kSurfaceError) * max_(max_abs(center) + max_abs(axis), radius);
}

// Surface point of a hit. The point of the axis below it is found again from the hit, which is better conditioned where
// the ray goes along the axis.
template <class F>
RT_HD SurfacePoint<F> capsule_surface(Vec3<F> center, F radius, Vec3<F> axis, Vec3<F> origin, Vec3<F> direction) {
  const Vec3<F> to_center = center - origin;
  const CapsuleLine<F> line = capsule_line(to_center, radius, axis, direction);
  const Chord<F> in = chord_at(to_center, radius, axis, direction, entering(line));
  const Chord<F> out = chord_at(to_center, radius, axis, direction, leaving(line));
  const F near = in.mid - sqrt_(max_(in.half2, F(0.0f)));
  const MaskOf<F> inside = !(near > F(0.0f));
  const F t = select(inside, out.mid + sqrt_(max_(out.half2, F(0.0f))), near);
  const F length2 = max_(dot(axis, axis), F(kLeastAxis2));
  const F free = dot(fma3(t, direction, F(-1.0f) * to_center), axis) / length2;
  const F s = on_segment(free);
  const Vec3<F> to_foot = fma3(s, axis, to_center);
  const Chord<F> c = sphere_chord(to_foot, radius, direction);
  const F half = sqrt_(max_(c.half2, F(0.0f)));
  const F along = select(inside, half, F(0.0f) - half);
  const Vec3<F> rising = fma3(along, direction, fma3(c.mid, direction, F(-1.0f) * to_foot));
  // between the ends the normal is perpendicular to the axis
  const F slip = select(s == free, F(0.0f) - dot(rising, axis) / length2, F(0.0f));
  const Vec3<F> outward = normalize(fma3(slip, axis, rising));
  const Vec3<F> normal = select(inside, F(-1.0f), F(1.0f)) * outward;
  const Vec3<F> on = fma3(radius, outward, fma3(s, axis, center));
  return {fma3(capsule_error(center, radius, axis), normal, on), normal, inside};
}

// t at which a ray from a point on the inner side leaves the capsule.
template <class F>
RT_HD F capsule_exit(Vec3<F> center, F radius, Vec3<F> axis, const SurfacePoint<F>& p, Vec3<F> direction) {
  const Vec3<F> to_center = center - p.position;
  const CapsuleLine<F> line = capsule_line(to_center, radius, axis, direction);
  const Chord<F> out = chord_at(to_center, radius, axis, direction, leaving(line));
  const F far = max_(out.mid + sqrt_(max_(out.half2, F(0.0f))), F(0.0f));
  return select(dot(axis, axis) > F(0.0f), far, inner_chord(radius, dot(direction, p.normal)));
}

}  // namespace RT_NS
