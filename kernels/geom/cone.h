// The ray-cone test. A cone is all that is within a radius of a segment, perpendicular to it, where the radius changes
// evenly from one end to the other: a cylinder with flat ends where both radii are equal, pointed where one is 0.
//
// It is where a slab and an endless cone overlap, and the line of a ray is inside of it between the later of the points
// where it enters them and the earlier of those where it leaves them. The quadratic equation of the endless cone is
// solved about the point of the line, within the slab, that is nearest to the axis. All lengths there are those of
// the cone itself if the line is to hit it: what is computed is off by some ulps of the cone's size, however thin,
// long or far it is, and however it lies to the ray.
#pragma once
#include "sphere.h"

namespace RT_NS {

template <class F>
struct Cone {
  Vec3<F> center;  // middle of the segment
  F start_radius;
  Vec3<F> axis;  // half of the segment, from its start to its end
  F end_radius;
};

// Where a line crosses a cone. t: relative to `base`
template <class F>
struct ConeSpan {
  F base;
  F slab_near, slab_far;  // between the flat ends
  F side_near, side_far;  // inside of the endless cone
  Vec3<F> unit_axis, away, across;  // at `base`, from the axis to the line; change of that with t
  F height, rise;  // along the axis from its middle, at `base`; change of that with t
  F half_length, radius, widening;  // radius at `base`; change of the radius with the height
  MaskOf<F> misses;
};

constexpr float kLeastSlope = 1e-18f;  // of a line along an end; products with lengths stay finite
constexpr float kLeastLength2 = 1e-36f;
constexpr float kFarOutside = 1e30f;

// center: relative to the origin of the ray
template <class F> RT_HD ConeSpan<F> cone_span(const Cone<F>& c, Vec3<F> direction) {
  const F zero(0.0f), one(1.0f);
  ConeSpan<F> s;
  const F mid = dot(c.center, direction);
  const Vec3<F> from_center = fma3(mid, direction, F(-1.0f) * c.center);  // perpendicular to the ray
  s.half_length = sqrt_(max_(dot(c.axis, c.axis), F(kLeastLength2)));
  s.unit_axis = (one / s.half_length) * c.axis;
  s.rise = dot(direction, s.unit_axis);
  const F height = dot(from_center, s.unit_axis);
  const F slope = select(abs_(s.rise) > F(kLeastSlope), s.rise, F(kLeastSlope));
  const F low = (F(0.0f) - s.half_length - height) / slope, high = (s.half_length - height) / slope;
  s.slab_near = min_(low, high), s.slab_far = max_(low, high);
  const Vec3<F> away = fma3(zero - height, s.unit_axis, from_center);
  s.across = fma3(zero - s.rise, s.unit_axis, direction);
  const F across2 = dot(s.across, s.across);
  const F nearest = zero - dot(away, s.across) / max_(across2, F(kLeastLength2));
  const F turn = max_(s.slab_near, min_(nearest, s.slab_far));
  s.slab_near = s.slab_near - turn, s.slab_far = s.slab_far - turn;
  s.base = mid + turn;
  s.away = fma3(turn, s.across, away);
  s.height = max_(zero - s.half_length, min_(fma_(turn, s.rise, height), s.half_length));
  s.widening = F(0.5f) * (c.end_radius - c.start_radius) / s.half_length;
  s.radius = max_(fma_(s.widening, s.height, F(0.5f) * (c.end_radius + c.start_radius)), zero);
  // |away + t across|^2 - (radius + t growth)^2 = square t^2 + 2 linear t + constant. The discriminant is written as a
  // difference of two squares, of which each is as large as the cone is.
  const F growth = s.widening * s.rise;
  const F square = fma_(zero - growth, growth, across2);
  const F linear = fma_(zero - growth, s.radius, dot(s.away, s.across));
  const F constant = fma_(zero - s.radius, s.radius, dot(s.away, s.away));
  const Vec3<F> reach = fma3(zero - growth, s.away, s.radius * s.across);
  const Vec3<F> turned = {fma_(s.away.y, s.across.z, zero - s.away.z * s.across.y),
                          fma_(s.away.z, s.across.x, zero - s.away.x * s.across.z),
                          fma_(s.away.x, s.across.y, zero - s.away.y * s.across.x)};
  const F aside = dot(turned, s.unit_axis);
  const F discriminant = fma_(zero - aside, aside, dot(reach, reach));
  const F root = sqrt_(max_(discriminant, zero));
  const F sum = select(linear < zero, root - linear, zero - root - linear);
  const MaskOf<F> along = abs_(square) < F(kLeastLength2), level = !(abs_(sum) > F(kLeastLength2));
  const F far = select(sum < zero, F(-kFarOutside), F(kFarOutside));
  const F one_root = select(along, far, sum / select(along, one, square));
  const F other_root = select(level, zero, constant / select(level, one, sum));
  const F first = min_(one_root, other_root), last = max_(one_root, other_root);
  const MaskOf<F> steep = square < zero;  // within the angle of the cone: the line crosses each of its two halves once
  s.side_near = select(steep, select(growth > zero, last, F(-kFarOutside)), first);
  s.side_far = select(steep, select(growth > zero, F(kFarOutside), first), last);
  const MaskOf<F> parallel = along & level;  // to the axis of a cylinder
  s.side_near = select(parallel, F(-kFarOutside), s.side_near);
  s.side_far = select(parallel, F(kFarOutside), s.side_far);
  s.misses = ((!steep) & (discriminant < zero)) | (parallel & (constant > zero));
  return s;
}

template <class F> RT_HD Interval<F> cone_interval(const Cone<F>& c, Vec3<F> direction) {
  const ConeSpan<F> s = cone_span(c, direction);
  const F near = max_(s.slab_near, s.side_near), far = min_(s.slab_far, s.side_far);
  const MaskOf<F> misses = s.misses | (near > far);
  return {select(misses, F(1.0f), s.base + near), select(misses, F(-1.0f), s.base + far)};
}

// Where the line of a ray enters the cone, or with `inside` leaves it.
template <class F> RT_HD OutwardPoint<F> cone_point(const Cone<F>& c, Vec3<F> direction, MaskOf<F> inside) {
  const F zero(0.0f);
  const ConeSpan<F> s = cone_span(c, direction);
  const F near = max_(s.slab_near, s.side_near), far = min_(s.slab_far, s.side_far);
  const F t = select(inside, far, near);
  const MaskOf<F> on_end = select(inside, s.side_far - s.slab_far, s.slab_near - s.side_near) >= zero;
  const F rising = select(s.rise < zero, F(-1.0f), F(1.0f));
  const F face = select(inside, rising, zero - rising);  // end of the axis on which the point is
  const Vec3<F> away = fma3(t, s.across, s.away);
  const F distance2 = dot(away, away);
  const Vec3<F> outward = (F(1.0f) / sqrt_(max_(distance2, F(kLeastLength2)))) * away;
  F height = fma_(t, s.rise, s.height);
  height = select(on_end, face * s.half_length, max_(zero - s.half_length, min_(height, s.half_length)));
  const F radius = max_(fma_(s.widening, height, F(0.5f) * (c.end_radius + c.start_radius)), zero);
  const F distance = select(on_end, min_(sqrt_(distance2), radius), radius);
  const Vec3<F> slanted = normalize(fma3(zero - s.widening, s.unit_axis, outward));
  return {fma3(distance, outward, height * s.unit_axis), select3(on_end, face * s.unit_axis, slanted)};
}

}  // namespace RT_NS
