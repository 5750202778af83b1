// The ray-sphere test; see large_sphere.h for spheres too large for float32.
//
// The centre is projected onto the ray, and the perpendicular offset is compared with the radius. This avoids
// the cancellation of b^2 - c at large distances (the error in t grows like ulp(distance), not like its
// square) and on large spheres. `to_center` = centre - origin, `direction` is a unit vector; t is a length.
#pragma once
#include "../core/vec.h"

namespace RT_NS {

template <class F>
struct Sphere {
  Vec3<F> center;
  F radius;
};

// Where the line of a ray is inside a primitive, which is a convex solid.
template <class F>
struct Interval {
  F near, far;
};

template <class F>
struct Chord {
  F mid;    // t of the point on the ray nearest to the centre
  F half2;  // half the chord, squared; negative: the ray misses
};

template <class F> RT_HD Chord<F> sphere_chord(Vec3<F> to_center, F radius, Vec3<F> direction) {
  F mid = dot(to_center, direction);
  Vec3<F> offset = fma3(F(0.0f) - mid, direction, to_center);  // perpendicular to the ray
  return {mid, fma_(radius, radius, F(0.0f) - dot(offset, offset))};
}

// 8 half-ulps: bound of the distance of a computed surface point from the surface, relative to centre and
// radius.
constexpr float kSurfaceError = 4.7683716e-7f;

// Whether the ray hits the sphere. For a ray that starts on the surface and points outwards, the far root is zero with
// rounding error, so it does not hit.
template <class F> RT_HD MaskOf<F> sphere_is_ahead(Chord<F> c, F radius) {
  F depth2 = fma_(F(0.0f) - c.mid, c.mid, c.half2);  // radius^2 - distance^2
  MaskOf<F> turned_away = !(c.mid > F(0.0f));
  MaskOf<F> leaves = turned_away & (depth2 <= F(kSurfaceError) * (radius * radius));
  return !((c.half2 < F(0.0f)) | leaves);
}

// Nearest t > 0 on the sphere; no hit: negative. A ray that starts inside hits the far side.
template <class F> RT_HD F sphere_nearest(Chord<F> c, F radius) {
  F half = sqrt_(max_(c.half2, F(0.0f)));
  F near = c.mid - half, far = c.mid + half;
  return select(sphere_is_ahead(c, radius), select(near > F(0.0f), near, far), F(-1.0f));
}

// Whether the sphere intersects the open segment (0, t_max). Hits are before mid + radius: where all segments reach there,
// no root is taken.
template <class F> RT_HD MaskOf<F> sphere_occludes(Chord<F> c, F radius, F t_max) {
  const MaskOf<F> ahead = sphere_is_ahead(c, radius);
  if (!any(ahead & !(c.mid + radius < t_max))) return ahead;
  return ahead & (sphere_nearest(c, radius) < t_max);
}

// Surface point of a hit, computed from the sphere, so that its error is an ulp of centre and radius,
// independent of the length of the ray.
template <class F>
struct SurfacePoint {
  Vec3<F> position;  // offset from the surface by its rounding error, towards the viewer
  Vec3<F> normal;    // unit vector, faces the viewer
  MaskOf<F> inside;  // the ray came from inside
};

template <class F> RT_HD SurfacePoint<F> select_point(MaskOf<F> m, const SurfacePoint<F>& a, const SurfacePoint<F>& b) {
  const MaskOf<F> inside = (m & a.inside) | ((!m) & b.inside);
  return {select3(m, a.position, b.position), select3(m, a.normal, b.normal), inside};
}

// A point of a surface, from the centre of the solid, and the normal that points out of it.
template <class F>
struct OutwardPoint {
  Vec3<F> offset, normal;
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
  // centre -> point: (mid +- half) d - to_center, with one difference of large numbers
  Vec3<F> outward = normalize(fma3(along, direction, fma3(c.mid, direction, F(-1.0f) * to_center)));
  F side = select(inside, F(-1.0f), F(1.0f));
  Vec3<F> normal = side * outward;
  Vec3<F> on = fma3(radius, outward, center);
  return {fma3(surface_error(center, radius), normal, on), normal, inside};
}

// Length of the chord to the next hit on the same sphere, for a ray from its inner side with the given cosine
// to the inward normal: closed form instead of a test against a point on the sphere itself.
template <class F> RT_HD F inner_chord(F radius, F cos_inward) { return (radius + radius) * cos_inward; }

}  // namespace RT_NS
