// The state of a path and the steps that every integrator takes: start at the camera, arrive in the
// background or on a surface. A scheduler (cpu/shade.h: waves of rays; cuda/path.cuh: a loop in a thread) finds what
// rays meet; surface_step.h puts the light together.
#pragma once
#include "../bvh/node.h"
#include "../geom/large_sphere.h"
#include "../shade/background.h"
#include "camera.h"
#include "features.h"
#include "hit_filter.h"
#include "interior.h"
#include "scene.h"

namespace RT_NS {

template <class F>
struct PathState {
  Ray<F> ray;
  Vec3<F> throughput;  // RGB: share of the radiance along the ray that reaches the film
  UintOf<F> prim;      // leaf position of the primitive that the ray meets, or kNoPrim
  UintOf<F> x, y;      // pixel
  uint32_t sample;     // of the pixel
  int depth;           // 0 for camera rays
  F scatter_pdf;  // of the ray's direction, per solid angle; 0: it was certain; negative: see is_beyond_last. Of use
  // where paths are traced
#if RT_FULL_SHADING
  Interior<F> interior;  // of use where solids of glass are nested
#endif
};

template <class F> RT_HD PathState<F> path_start(Ray<F> ray, UintOf<F> prim, UintOf<F> x, UintOf<F> y,
                                                 uint32_t sample) {
  return {ray, {F(1.0f), F(1.0f), F(1.0f)}, prim, x, y, sample, 0, F(0.0f)};
}

// 1 if a camera ray meets something. An opaque background is in the radiance and not in the coverage, which
// tone mapping takes into account (film/tone_map.h).
template <class F> RT_HD F path_coverage(const PathState<F>& p) {
  return select(p.prim == UintOf<F>(kNoPrim), F(0.0f), F(1.0f));
}

// radiance that a ray which meets nothing brings
template <class F> RT_HD Vec3<F> shade_background(const rt::Frame& frame, const PathState<F>& p) {
  F height = p.depth == 0 ? background_height_row<F>(frame.film.height, p.y)
                          : background_height_direction(frame.environment, p.ray.direction);
  return p.throughput * background(frame.environment, height);
}

template <class F>
struct Surface {
  Primitive<F> primitive;
  SurfacePoint<F> point;
  Bsdf<F> bsdf;
#if RT_FULL_SHADING || RT_ALPHA_CLIP
  MaskOf<F> on_cut;  // on a cut face, geom/clip.h
  F error;  // bound of the distance of the point from the surface
#endif
};

// The BSDF at a point of the primitive at leaf position `prim`.
template <class F>
RT_HD Bsdf<F> surface_bsdf(const rt::SceneTables& s, UintOf<F> prim, const Primitive<F>& primitive,
                           const SurfacePoint<F>& point) {
#if RT_SOLIDS
  return load_bsdf<F>(s, prim, primitive, point);
#else
  return load_bsdf<F>(s, prim);
#endif
}

// where the path meets p.prim, the primitive given
template <class F> RT_HD Surface<F> path_surface(const rt::SceneTables& s, const PathState<F>& p,
                                                 const Primitive<F>& primitive) {
  SurfacePoint<F> point =
      surface_point<F>(s.large, large_count(*s.frame), p.prim, primitive, p.ray.origin, p.ray.direction);
#if RT_FULL_SHADING || RT_ALPHA_CLIP
  const rt::Frame& frame = *s.frame;
  ClippedPoint<F> at = {point, splat_mask<F>(false)};
  if (clips(frame))
    at = clipped_point<F>(frame.clip, s.large, large_count(frame), p.prim, primitive, point, p.ray.origin,
                          p.ray.direction);
  F error = primitive_error(primitive);
  // a large sphere's record says less well where it is: geom/large_sphere.h
  if (large_count(frame)) {
    const MaskOf<F> is_small = row_of(s, p.prim) < UintOf<F>(s.large[0].prim);
    error = select(is_small, error, large_error(at.point.position));
  }
  return {primitive, at.point, surface_bsdf<F>(s, p.prim, primitive, at.point), at.on_cut, error};
#else
  return {primitive, point, surface_bsdf<F>(s, p.prim, primitive, point)};
#endif
}

// What a ray that leaves a surface does not meet: the primitive itself, unless it leaves a face that was cut.
template <class F> RT_HD UintOf<F> leaving(const PathState<F>& p, const Surface<F>& f) {
#if RT_FULL_SHADING || RT_ALPHA_CLIP
  return select(f.on_cut, UintOf<F>(kNoPrim), p.prim);
#else
  return p.prim;
#endif
}

#if RT_ALPHA_CLIP

// inner_distance in a scene that planes clip. whole: without them. Not inlined on the CPU, as in geom/large_sphere.h.
template <class F>
RT_CPU_COLD F clipped_inner_distance(const rt::Clip& clip, const Primitive<F>& primitive, MaskOf<F> on_cut, F whole,
                                     Vec3<F> position, Vec3<F> direction) {
  const Primitive<F> seen = relative_to(primitive, position);
  F t = select(on_cut, primitive_interval(seen, primitive_test(seen, direction)).far, whole);
  const ClipSpan<F> span = clip_span(clip, position, direction);
  const F last = max_(span.last, F(0.0f));
  // a point on a cut face counts as removed: from there the ray goes on as far as what is kept
  t = select(span.begin > F(0.0f), min_(t, min_(span.begin, last)), select(span.last > F(0.0f), min_(t, last), t));
  return select(whole < F(kInfinity), t, whole);  // a ground is not cut
}

#endif

// t at which a ray from the surface into the primitive leaves it; not below kInfinity: never. facing: the surface point
// with its normal on the side of the ray
template <class F>
RT_HD F inner_distance(const rt::Frame& frame, const Surface<F>& f, const SurfacePoint<F>& facing, Vec3<F> direction) {
  const F whole = hit_again(f.primitive, facing, direction);
#if RT_ALPHA_CLIP
  if (clips(frame))
    return clipped_inner_distance<F>(frame.clip, f.primitive, f.on_cut, whole, facing.position, direction);
#endif
  return whole;
}

// A path after a surface, and what its ray is known to meet before anything is traced: `path.prim` at t.
template <class F>
struct PathStep {
  PathState<F> path;
  UintOf<F> self;  // the surface that it leaves, which the ray does not meet
  F t;
};

// The path goes on in direction `wi`. One that stays inside a primitive meets it again: closed form,
// instead of a test of the primitive against a point on itself.
template <class F>
RT_HD PathStep<F> path_step(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f, Vec3<F> wi,
                            Vec3<F> weight) {
  F again_t = inner_distance(frame, f, f.point, wi);
  const MaskOf<F> meets_again = f.point.inside & (again_t < F(kInfinity));  // below a ground nothing ends
  UintOf<F> again = select(meets_again, p.prim, UintOf<F>(kNoPrim));
  PathState<F> next = {{f.point.position, wi}, p.throughput * weight, again, p.x, p.y, p.sample, p.depth + 1, F(0.0f)};
  return {next, select(f.point.inside, p.prim, leaving(p, f)), select(meets_again, again_t, F(kInfinity))};
}

}  // namespace RT_NS
