// Clipping by planes: an intersection of half-spaces is kept, or it is removed. Spheres are solids: where a cut goes
// through one, a ray meets the cut face.
//
// The intersection is convex, so that a ray has one interval in which nothing is hit, and an end. A solid that the ray
// is inside of at the far end of the interval is hit there.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// Half-spaces a x + b y + c z <= d, in render space; their intersection is what is kept, or what is removed.
#define RT_FIELDS_Clip(F)                                                                                \
  F(float, clip_planes, 24) F(int32_t, clip_count, 1) F(int32_t, clip_removes, 1) F(int32_t, pad, 2)

#elif !defined(RT_GEOM_CLIP_H)
#define RT_GEOM_CLIP_H
#include "../core/structs.h"
#include "primitive.h"

namespace RT_NS {

constexpr int kMaxClipPlanes = 6;

// What a ray may hit: anything in (0, begin) and (end, last).
template <class F>
struct ClipSpan {
  F begin, end, last;
};

// a x + b y + c z - d of plane i: positive outside of its half-space
template <class F> RT_HD F clip_height(const rt::Clip& c, int i, Vec3<F> p) {
  const float* plane = c.clip_planes + 4 * i;
  return dot(splat3<F>(plane), p) - F(plane[3]);
}

template <class F> RT_HD ClipSpan<F> clip_span(const rt::Clip& c, Vec3<F> origin, Vec3<F> direction) {
  const F zero(0.0f), infinity(kInfinity);
  F enter(0.0f), leave(kInfinity);
  for (int i = 0; i < c.clip_count; ++i) {
    const F height = clip_height(c, i, origin), slope = dot(splat3<F>(c.clip_planes + 4 * i), direction);
    const MaskOf<F> falls = slope<zero, rises = slope> zero;
    const F t = zero - height / select(falls | rises, slope, F(1.0f));
    enter = select(falls, max_(enter, t), enter);
    leave = select(rises, min_(leave, t), leave);
    leave = select(falls | rises | (height <= zero), leave, F(-1.0f));  // parallel to the plane, outside
  }
  const MaskOf<F> crosses = enter < leave;
  if (c.clip_removes) return {select(crosses, enter, infinity), select(crosses, leave, infinity), infinity};
  const MaskOf<F> starts_inside = !(enter > zero);
  return {select(starts_inside, infinity, zero), select(starts_inside, infinity, enter),
          select(crosses, leave, F(-1.0f))};
}

// What a ray meets of a solid that the span is cut out of.
template <class F>
struct ClippedHit {
  F t;               // nearest > 0; no hit: negative
  MaskOf<F> on_cut;  // on a cut face
  MaskOf<F> before;  // on the near one of the interval, from inside
};

// interval: where the line of the ray is inside the solid; t: the nearest hit without clipping
template <class F> RT_HD ClippedHit<F> clipped_hit(const Interval<F>& interval, F t, const ClipSpan<F>& s) {
  const F miss(-1.0f), zero(0.0f);
  const F exit = min_(s.begin, s.last);
  const MaskOf<F> enters = interval.near > zero, removed = s.begin <= zero;
  const MaskOf<F> in_gap = (enters & (interval.near >= s.begin) & (interval.near <= s.end)) | ((!enters) & removed);
  const MaskOf<F> after = in_gap & (interval.far > s.end);
  const MaskOf<F> before = (!enters) & (!removed) & (exit < interval.far);
  F hit = select(enters, interval.near, min_(interval.far, exit));
  hit = select(in_gap, select(after, s.end, miss), hit);
  hit = select((t < zero) | (hit > s.last), miss, hit);
  return {hit, after | before, before};
}

// Nearest t > 0 of a primitive, relative to the origin of the ray, that the span is cut out of; no hit: negative.
template <class F, class Test> RT_HD F clipped_nearest(const Primitive<F>& p, const Test& test, const ClipSpan<F>& s) {
  return clipped_hit(primitive_interval(p, test), nearest_hit(p, test), s).t;
}

// A surface point, and whether it is on a cut face.
template <class F>
struct ClippedPoint {
  SurfacePoint<F> point;
  MaskOf<F> on_cut;
};

// A point of a cut face is moved off its plane by the error of its own coordinates: twice kSurfaceError is above the
// rounding of clip_height there.
constexpr float kCutError = 2.0f * kSurfaceError;

// Surface point of a hit on a cut face. most: by how much it is moved at most
template <class F>
RT_HD SurfacePoint<F> cut_point(const rt::Clip& clip, const ClippedHit<F>& cut, F most, Vec3<F> origin,
                                Vec3<F> direction) {
  const Vec3<F> on = fma3(cut.t, direction, origin);
  Vec3<F> normal = {F(0.0f), F(0.0f), F(1.0f)};
  F height(kInfinity);
  for (int i = 0; i < clip.clip_count; ++i) {
    const F h = clip_height(clip, i, on);
    const Vec3<F> n = splat3<F>(clip.clip_planes + 4 * i);
    const MaskOf<F> nearer = abs_(h) < abs_(height);
    normal = {select(nearer, n.x, normal.x), select(nearer, n.y, normal.y), select(nearer, n.z, normal.z)};
    height = select(nearer, h, height);
  }
  const Vec3<F> flat = fma3(F(0.0f) - height, normal, on);
  normal = select(dot(normal, direction) > F(0.0f), F(-1.0f), F(1.0f)) * normal;
  return {fma3(min_(most, F(kCutError) * max_abs(flat)), normal, flat), normal, cut.before};
}

// Surface point of a hit, where planes clip; p: that of the solid without them.
template <class F>
RT_HD ClippedPoint<F> clipped_surface(const rt::Clip& clip, const Primitive<F>& primitive, const SurfacePoint<F>& p,
                                      Vec3<F> origin, Vec3<F> direction) {
  const Primitive<F> seen = relative_to(primitive, origin);
  const auto test = primitive_test(seen, direction);
  const ClippedHit<F> cut =
      clipped_hit(primitive_interval(seen, test), nearest_hit(seen, test), clip_span(clip, origin, direction));
  if (!any(cut.on_cut)) return {p, cut.on_cut};
  const SurfacePoint<F> on_cut = cut_point(clip, cut, primitive_error(primitive), origin, direction);
  return {select_point(cut.on_cut, on_cut, p), cut.on_cut};
}

}  // namespace RT_NS
#endif
