// Spheres so large that float32 centre and radius do not define their surface: a ground ball of 10^7 units
// has an error of half a unit. Few scenes have such spheres, and at most kMaxLargeSpheres: they are outside
// of the tree, and every ray is tested against each.
//
// The surface is described near the other spheres, about the origin O of render space. With c the centre,
// r the radius, n = c / |c|, k = 1 / |c|:
//     height(p) = (|p - c|^2 - r^2) / (2 |c|) = k/2 |p|^2 - n . p + h,   h = (|c|^2 - r^2) / (2 |c|)
// which is positive outside, zero on the surface and close to the distance from it. All terms have the
// magnitude of p, so that the error near O is a few half-ulps of |p| instead of r. h is computed exactly and
// rounded once (raytracer/scene/packing/large_spheres.py). With k = 0 it is a plane: the ground of a scene.
#pragma once
#include "primitive.h"
#include "../core/structs.h"

namespace RT_NS {

constexpr int kMaxLargeSpheres = 16;

template <class F> RT_HD F large_height(const rt::LargeSphere& s, Vec3<F> p) {
  F bent = fma_(F(0.5f * s.curvature), dot(p, p), F(s.height));
  return bent - dot(splat3<F>(s.normal), p);
}

// gradient of the height: outwards, of length r / |c| on the surface
template <class F> RT_HD Vec3<F> large_gradient(const rt::LargeSphere& s, Vec3<F> p) {
  return fma3(F(s.curvature), p, F(-1.0f) * splat3<F>(s.normal));
}

template <class F>
struct LargeHit {
  F t;               // nearest > 0; no hit: negative
  MaskOf<F> inside;  // the ray starts inside
};

// Along the ray the height is k/2 t^2 + slope t + height(o); roots in the form without cancellation. For
// origins far from O the discriminant is computed from the offset perpendicular to the ray, as in sphere_chord.
template <class F> RT_HD LargeHit<F> large_nearest(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) {
  F k(s.curvature);
  F height = large_height(s, origin);
  Vec3<F> gradient = large_gradient(s, origin);
  F slope = dot(gradient, direction);
  Vec3<F> across = fma3(F(0.0f) - slope, direction, gradient);
  F near_form = fma_(slope, slope, F(-2.0f * s.curvature) * height);
  F far_form = F(1.0f - 2.0f * s.curvature * s.height) - dot(across, across);
  F half2 = select(k * max_abs(origin) > F(1.0f), far_form, near_form);
  F half = sqrt_(max_(half2, F(0.0f)));
  MaskOf<F> inside = !(height > F(0.0f));
  MaskOf<F> descends = slope < F(0.0f);
  F enters = (height + height) / (half - slope);
  F leaves = select(descends, (half - slope) / k, F(-2.0f) * height / (half + slope));
  // as in sphere_nearest: origin on the surface, direction outwards
  MaskOf<F> on_surface = inside & !descends & (F(0.0f) - height <= F(kSurfaceError) * max_abs(origin));
  MaskOf<F> misses = (half2 < F(0.0f)) | ((!inside) & (!descends)) | on_surface;
  return {select(misses, F(-1.0f), select(inside, leaves, enters)), inside};
}

// Surface point of a hit: the point on the ray, projected to the surface.
template <class F> RT_HD SurfacePoint<F> large_surface(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) {
  LargeHit<F> hit = large_nearest(s, origin, direction);
  Vec3<F> near = fma3(hit.t, direction, origin);
  Vec3<F> gradient = large_gradient(s, near);
  Vec3<F> on = fma3(F(0.0f) - large_height(s, near) / dot(gradient, gradient), gradient, near);
  Vec3<F> normal = select(hit.inside, F(-1.0f), F(1.0f)) * normalize(large_gradient(s, on));
  return {fma3(F(kSurfaceError) * max_abs(on), normal, on), normal, hit.inside};
}

template <class F>
struct LargeFirst {
  F t;
  UintOf<F> prim;
};

// Tests of a ray against all large spheres; filter: integrator/hit_filter.h. Not inlined, because few scenes have any: others pay for one
// comparison and no register.

template <class F, class Filter>
RT_COLD LargeFirst<F> large_first(const rt::LargeSphere* large, int count, Vec3<F> origin, Vec3<F> direction,
                                  UintOf<F> self, LargeFirst<F> first, const Filter& filter) {
  for (int i = 0; i < count; ++i) {
    F t = large_nearest(large[i], origin, direction).t;
    UintOf<F> at(large[i].prim);
    MaskOf<F> nearer = (t > F(0.0f)) & (t < first.t) & !(self == at);
    if constexpr (!Filter::kAcceptsAll)
      if (any(nearer)) nearer = nearer & filter.accepts_large(large[i], fma3(t, direction, origin));
    first = {select(nearer, t, first.t), select(nearer, at, first.prim)};
  }
  return first;
}

template <class F, class Filter>
RT_COLD MaskOf<F> large_occluded(const rt::LargeSphere* large, int count, Vec3<F> origin, Vec3<F> direction,
                                 UintOf<F> self, F t_max, const Filter& filter) {
  MaskOf<F> blocked = t_max < F(0.0f);
  for (int i = 0; i < count; ++i) {
    F t = large_nearest(large[i], origin, direction).t;
    MaskOf<F> hit = (t > F(0.0f)) & (t < t_max) & !(self == UintOf<F>(large[i].prim));
    if constexpr (!Filter::kAcceptsAll)
      if (any(hit)) hit = hit & filter.accepts_large(large[i], fma3(t, direction, origin));
    blocked = blocked | hit;
  }
  return blocked;
}

template <class F>
RT_COLD SurfacePoint<F> large_point(const rt::LargeSphere* large, int count, UintOf<F> prim, SurfacePoint<F> p,
                                    Vec3<F> origin, Vec3<F> direction) {
  for (int i = 0; i < count; ++i) {
    MaskOf<F> own = prim == UintOf<F>(large[i].prim);
    if (!any(own)) continue;
    SurfacePoint<F> q = large_surface(large[i], origin, direction);
    p.position = {select(own, q.position.x, p.position.x), select(own, q.position.y, p.position.y),
                  select(own, q.position.z, p.position.z)};
    p.normal = {select(own, q.normal.x, p.normal.x), select(own, q.normal.y, p.normal.y),
                select(own, q.normal.z, p.normal.z)};
    p.inside = (own & q.inside) | ((!own) & p.inside);
  }
  return p;
}

// Whether a leaf position is that of a large sphere: they are the last.
RT_HD bool is_large(const rt::LargeSphere* large, int count, uint32_t prim) {
  return count > 0 && prim >= large[0].prim;
}

// The nearer of the current hit and the large spheres except `self`; for equal distances the lower position.
template <class F, class Filter>
RT_HD void large_intersect_closest(const rt::LargeSphere* large, int count, Vec3<F> origin, Vec3<F> direction,
                                   UintOf<F> self, F& t, UintOf<F>& prim, const Filter& filter) {
  if (count == 0) return;
  LargeFirst<F> first = large_first<F, Filter>(large, count, origin, direction, self, {t, prim}, filter);
  t = first.t, prim = first.prim;
}

// Surface point of a hit on the primitive at leaf position `prim`, which may be a large sphere.
template <class F>
RT_HD SurfacePoint<F> surface_point(const rt::LargeSphere* large, int count, UintOf<F> prim,
                                    const Primitive<F>& primitive, Vec3<F> origin, Vec3<F> direction) {
  SurfacePoint<F> p = primitive_surface(primitive, origin, direction);
  return count == 0 ? p : large_point<F>(large, count, prim, p, origin, direction);
}

}  // namespace RT_NS
