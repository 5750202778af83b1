// The ray-sphere test; large_sphere.h has that of spheres too large for float32.
//
// The centre is projected on the ray and the perpendicular offset compared with the radius, which
// keeps its digits where b^2 - c loses them: far away (error in t grows like ulp(distance), not like
// its square) and on huge spheres. `to_center` = centre - origin, `direction` is unit; t is a length.
#pragma once
#include "../core/vec.h"

namespace RT_NS {

template <class F>
struct Sphere {
  Vec3<F> center;
  F radius;
};

template <class F>
struct Chord {
  F mid;    // t of the point of the ray nearest to the centre
  F half2;  // half the chord, squared; negative: the ray misses
};

template <class F> RT_HD Chord<F> sphere_chord(Vec3<F> to_center, F radius, Vec3<F> direction) {
  F mid = dot(to_center, direction);
  Vec3<F> offset = fma3(F(0.0f) - mid, direction, to_center);  // perpendicular to the ray
  return {mid, fma_(radius, radius, F(0.0f) - dot(offset, offset))};
}

// 8 half-ulps: by so much a point that was put on a surface may miss it, relative to the numbers that
// made it (centre, radius).
constexpr float kSurfaceError = 4.7683716e-7f;

// Nearest t > 0 on the sphere; no hit: negative. A ray that starts inside meets the far side. One that
// starts on the surface and points away would find the far root at zero plus rounding: it leaves.
template <class F> RT_HD F sphere_nearest(Chord<F> c, F radius) {
  F half = sqrt_(max_(c.half2, F(0.0f)));
  F near = c.mid - half, far = c.mid + half;
  F depth2 = fma_(F(0.0f) - c.mid, c.mid, c.half2);  // radius^2 - distance^2
  MaskOf<F> turned_away = !(c.mid > F(0.0f));
  MaskOf<F> leaves = turned_away & (depth2 <= F(kSurfaceError) * (radius * radius));
  return select((c.half2 < F(0.0f)) | leaves, F(-1.0f), select(near > F(0.0f), near, far));
}

// Does the sphere cut the open segment (0, t_max)?
template <class F> RT_HD MaskOf<F> sphere_blocks(Chord<F> c, F radius, F t_max) {
  F t = sphere_nearest(c, radius);
  return (t > F(0.0f)) & (t < t_max);
}

// Where a ray met a sphere, in terms of the sphere: the point is put back on the surface, so its error
// is an ulp of the centre and radius and does not know how far the ray came.
template <class F>
struct SurfacePoint {
  Vec3<F> position;  // moved off the surface by its own rounding error, towards the viewer
  Vec3<F> normal;    // unit, faces the viewer
  MaskOf<F> inside;  // the ray came from inside
};

template <class F> RT_HD F surface_error(Vec3<F> center, F radius) {
  return F(kSurfaceError) * max_(max_abs(center), radius);
}

template <class F> RT_HD SurfacePoint<F> sphere_surface(Vec3<F> center, F radius, Vec3<F> origin, Vec3<F> direction) {
  Vec3<F> to_center = center - origin;
  Chord<F> c = sphere_chord(to_center, radius, direction);
  F half = sqrt_(max_(c.half2, F(0.0f)));
  MaskOf<F> inside = !(c.mid - half > F(0.0f));
  F along = select(inside, half, F(0.0f) - half);
  // centre -> point: (mid +- half) d - to_center, without ever forming the big numbers' difference twice
  Vec3<F> outward = normalize(fma3(along, direction, fma3(c.mid, direction, F(-1.0f) * to_center)));
  F side = select(inside, F(-1.0f), F(1.0f));
  Vec3<F> normal = side * outward;
  Vec3<F> on = fma3(radius, outward, center);
  return {fma3(surface_error(center, radius), normal, on), normal, inside};
}

// A ray that leaves a sphere's inner side at angle cos against the inward normal meets the same sphere
// again after one chord: closed form, instead of a test of the sphere against a point on itself.
template <class F> RT_HD F inner_chord(F radius, F cos_inward) { return (radius + radius) * cos_inward; }

}  // namespace RT_NS
