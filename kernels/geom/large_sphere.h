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
#include "clip.h"
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

// Height along the line of a ray: k/2 t^2 + slope t + height.
template <class F>
struct LargeLine {
  F height, slope;
  F half2;  // as in Chord, times k^2; negative: the ray misses
};

// For origins far from O, half2 is computed from the offset perpendicular to the ray, as in sphere_chord.
template <class F> RT_HD LargeLine<F> large_line(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) {
  F k(s.curvature);
  F height = large_height(s, origin);
  Vec3<F> gradient = large_gradient(s, origin);
  F slope = dot(gradient, direction);
  Vec3<F> across = fma3(F(0.0f) - slope, direction, gradient);
  F near_form = fma_(slope, slope, F(-2.0f * s.curvature) * height);
  F far_form = F(1.0f - 2.0f * s.curvature * s.height) - dot(across, across);
  return {height, slope, select(k * max_abs(origin) > F(1.0f), far_form, near_form)};
}

template <class F>
struct LargeHit {
  F t;               // nearest > 0; no hit: negative
  MaskOf<F> inside;  // the ray starts inside
};

// Roots in the form without cancellation.
template <class F> RT_HD LargeHit<F> large_nearest(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) {
  F k(s.curvature);
  LargeLine<F> l = large_line(s, origin, direction);
  F half = sqrt_(max_(l.half2, F(0.0f)));
  MaskOf<F> inside = !(l.height > F(0.0f));
  MaskOf<F> descends = l.slope < F(0.0f);
  F enters = (l.height + l.height) / (half - l.slope);
  F leaves = select(descends, (half - l.slope) / k, F(-2.0f) * l.height / (half + l.slope));
  // as in sphere_nearest: origin on the surface, direction outwards
  MaskOf<F> on_surface = inside & !descends & (F(0.0f) - l.height <= F(kSurfaceError) * max_abs(origin));
  MaskOf<F> misses = (l.half2 < F(0.0f)) | ((!inside) & (!descends)) | on_surface;
  return {select(misses, F(-1.0f), select(inside, leaves, enters)), inside};
}

// Where the line of a ray that reaches the sphere is inside of it; k > 0. Its near end has the sign that tells whether
// the ray starts inside.
template <class F> RT_HD Interval<F> large_interval(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) {
  const LargeLine<F> l = large_line(s, origin, direction);
  const F half = sqrt_(max_(l.half2, F(0.0f)));
  const MaskOf<F> descends = l.slope < F(0.0f);
  const F sum = select(descends, half - l.slope, F(0.0f) - half - l.slope);
  const F small = (l.height + l.height) / select(abs_(sum) > F(0.0f), sum, F(1.0f)), large = sum / F(s.curvature);
  return {select(descends, small, large), select(descends, large, small)};
}

// What a ray meets of a large sphere that planes cut; the ground is not cut.
template <class F>
RT_HD ClippedHit<F> clipped_large(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction,
                                  const ClipSpan<F>& span) {
  const F t = large_nearest(s, origin, direction).t;
  const MaskOf<F> none = splat_mask<F>(false);
  if (!(s.curvature > 0.0f)) return {t, none, none};
  return clipped_hit(large_interval(s, origin, direction), t, span);
}

// Bound of the distance of a computed surface point from the surface.
template <class F> RT_HD F large_error(Vec3<F> position) { return F(kSurfaceError) * max_abs(position); }

// Surface point of a hit: the point on the ray, projected to the surface.
template <class F> RT_HD SurfacePoint<F> large_surface(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F> direction) {
  LargeHit<F> hit = large_nearest(s, origin, direction);
  Vec3<F> near = fma3(hit.t, direction, origin);
  Vec3<F> gradient = large_gradient(s, near);
  Vec3<F> on = fma3(F(0.0f) - large_height(s, near) / dot(gradient, gradient), gradient, near);
  Vec3<F> normal = select(hit.inside, F(-1.0f), F(1.0f)) * normalize(large_gradient(s, on));
  return {fma3(large_error(on), normal, on), normal, hit.inside};
}

template <class F>
struct LargeFirst {
  F t;
  UintOf<F> prim;
};

// Tests of a ray against all large spheres; filter: integrator/hit_filter.h. Not inlined, because few scenes have any:
// others pay for one comparison and no register.
template <class F, class Filter>
RT_COLD LargeFirst<F> large_first(const rt::LargeSphere* large, int count, Vec3<F> origin, Vec3<F> direction,
                                  UintOf<F> self, LargeFirst<F> first, const Filter& filter) {
  for (int i = 0; i < count; ++i) {
    F t = filter.nearest_large(large[i], origin, direction);
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
    F t = filter.nearest_large(large[i], origin, direction);
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
    p = select_point(own, large_surface(large[i], origin, direction), p);
  }
  return p;
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

// Of a hit at leaf position `prim` of a scene that planes clip. p: surface_point
template <class F>
RT_COLD ClippedPoint<F> clipped_large_point(const rt::Clip& clip, const rt::LargeSphere* large, int count,
                                            UintOf<F> prim, SurfacePoint<F> p, ClippedPoint<F> at, Vec3<F> origin,
                                            Vec3<F> direction) {
  const ClipSpan<F> span = clip_span(clip, origin, direction);
  for (int i = 0; i < count; ++i) {
    const MaskOf<F> own = prim == UintOf<F>(large[i].prim);
    if (!any(own)) continue;
    const ClippedHit<F> cut = clipped_large(large[i], origin, direction, span);
    const SurfacePoint<F> on_cut = cut_point(clip, cut, F(kInfinity), origin, direction);
    at.point = select_point(own, select_point(cut.on_cut, on_cut, p), at.point);
    at.on_cut = (own & cut.on_cut) | ((!own) & at.on_cut);
  }
  return at;
}

// Not inlined on the CPU, as above.
template <class F>
RT_CPU_COLD ClippedPoint<F> clipped_point(const rt::Clip& clip, const rt::LargeSphere* large, int count, UintOf<F> prim,
                                          const Primitive<F>& primitive, const SurfacePoint<F>& p, Vec3<F> origin,
                                          Vec3<F> direction) {
  const ClippedPoint<F> at = clipped_surface(clip, primitive, p, origin, direction);
  return count == 0 ? at : clipped_large_point<F>(clip, large, count, prim, p, at, origin, direction);
}

}  // namespace RT_NS
