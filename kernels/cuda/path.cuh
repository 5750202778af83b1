// A path through the scene, one thread (CUDA): surfaces, lights and mirrors from the camera ray's first
// hit on. Shadow rays are cast in add_lights. The traversal is a template argument with
//   Primitive<float> primitive(prim)
//   void intersect_closest(o, d, self, t, prim, filter)   nearest hit before t, except `self`
//   bool occluded(o, d, self, t_max, filter)              whether anything except `self` is in (0, t_max)
// filter: integrator/hit_filter.h
#pragma once
#include "../integrator/integrators.h"

// With nested glass rays are traced from so many places that traversal is called: inlined, the stacks of all places
// would add up in local memory (7,296 bytes of a thread in place of 5,136).
#if RT_PATH_TRACING && RT_NESTED
#define RT_TRACE RT_DEVICE_CALLED
#else
#define RT_TRACE RT_DEVICE
#endif

namespace RT_NS {

RT_DEVICE rt::SceneTables scene_tables(const rt::RenderArgs& a, const rt::Camera& camera, const rt::Light* lights,
                                       const rt::Material* materials, const rt::LargeSphere* large,
                                       const rt::Frame& frame) {
  return {(const int32_t*)a.order,
          (const float*)a.color,
          (const int32_t*)a.color_id,
          (const int32_t*)a.material_id,
          &camera,
          lights,
          materials,
          large,
          (const rt::Emitter*)a.emitters,
          (const rt::SkyTexel*)a.sky,
          (const uint16_t*)a.opacity,
          &frame,
          (float*)a.draft};
}

// This thread's pixel of a warp's tile; threads beyond the picture's edge go along with a pixel inside.
struct TilePixel {
  int x, y;
  size_t film;  // place in the film
  bool inside;
};

RT_DEVICE TilePixel tile_pixel(const rt::RenderArgs& args, const rt::Film& film, int tile) {
  const int lane = threadIdx.x & 31;
  int x = film.x0 + tile % args.tiles_x * rt::kWarpTileWidth + lane % rt::kWarpTileWidth;
  int y = film.y0 + tile / args.tiles_x * rt::kWarpTileHeight + lane / rt::kWarpTileWidth;
  const bool inside = x < film.x1 && y < film.y1;
  x = min(x, film.x1 - 1), y = min(y, film.y1 - 1);
  return {x, y, (size_t)(y - film.y0) * (size_t)(film.x1 - film.x0) + (size_t)(x - film.x0), inside};
}

struct ClosestHit {
  float t;
  uint32_t prim;
};

// Nearest hit of a ray before that given, except `self`.
template <class Traversal, class Filter>
RT_TRACE ClosestHit closest_hit(const rt::SceneTables& s, const Traversal& traversal, Ray<float> ray, uint32_t self,
                                ClosestHit hit, Filter filter) {
  large_intersect_closest<float>(s.large, large_count(*s.frame), ray.origin, ray.direction, self, hit.t, hit.prim,
                                 filter);
  traversal.intersect_closest(ray.origin, ray.direction, self, hit.t, hit.prim, filter);
  return hit;
}

// Whether anything except `self` is in (0, t_max) of a ray.
template <class Traversal, class Filter>
RT_TRACE bool any_hit(const rt::SceneTables& s, const Traversal& traversal, Ray<float> ray, uint32_t self, float t_max,
                      Filter filter) {
  if (large_count(*s.frame) &&
      large_occluded<float>(s.large, large_count(*s.frame), ray.origin, ray.direction, self, t_max, filter))
    return true;
  return traversal.occluded(ray.origin, ray.direction, self, t_max, filter);
}

// The same by a call, for rays that few surfaces send out.
template <class Traversal, class Filter>
RT_DEVICE_CALLED bool any_hit_called(const rt::SceneTables& s, const Traversal& traversal, Ray<float> ray,
                                     uint32_t self, float t_max, Filter filter) {
  return any_hit(s, traversal, ray, self, t_max, filter);
}

// Nearest hit of the ray of a path before t, except `self`, updates t and p.prim.
template <class Traversal>
RT_DEVICE void path_intersect_closest(const rt::SceneTables& s, const Traversal& traversal, PathState<float>& p,
                                      uint32_t self, float& t) {
  const auto filter = ray_filter<float>(s, p.x, p.y, p.sample, p.ray.origin, p.ray.direction);
  const ClosestHit hit = closest_hit(s, traversal, p.ray, self, {t, p.prim}, filter);
  t = hit.t, p.prim = hit.prim;
}

// Whether anything except `self` is in (0, t_max) of a ray that leaves a surface of the path p.
template <class Traversal>
RT_DEVICE bool path_occluded(const rt::SceneTables& s, const Traversal& traversal, const PathState<float>& p,
                             Vec3<float> o, Vec3<float> d, uint32_t self, float t_max) {
  return any_hit(s, traversal, {o, d}, self, t_max, ray_filter<float>(s, p.x, p.y, p.sample, o, d, true));
}

// What the lights send to a surface, added to `radiance`; asks for shadow rays one light at a time.
template <class Traversal>
RT_DEVICE Vec3<float> add_lights(const rt::SceneTables& s, const Traversal& traversal, const PathState<float>& p,
                                 const Surface<float>& f, Vec3<float> radiance) {
  for (int i = 0; i < s.frame->scene.light_count; ++i) {
    DirectSample<float> a = shade_light(s.frame->integrator, s.lights[i], p, f);
    if (!a.contributes) continue;
    if (s.frame->integrator.shadows &&
        path_occluded(s, traversal, p, f.point.position, a.sample.wi, p.prim, a.sample.distance))
      continue;
    radiance = radiance + a.radiance;
  }
  return radiance;
}

// A pixel of a draft without a surface, to begin with.
RT_DEVICE void clear_draft(const rt::SceneTables& s, uint32_t x, uint32_t y) {
  draft_at(s, x, y)[kDraftDepth * draft_plane(s.frame->film)] = kNoSurface;
}

// What a draft keeps of a surface; open: whether its ray to the sky was.
RT_DEVICE void keep_surface(const rt::SceneTables& s, const PathState<float>& p, const Surface<float>& f,
                            Vec3<float> ambient, bool open) {
  const Vec3<float> n = f.point.normal;
  const float values[rt::kDraftPlanes] = {open ? 1.0f : 0.0f, draft_depth(s, p, f), n.x, n.y, n.z, ambient.x, ambient.y,
                                          ambient.z};
  float* to = draft_at(s, p.x, p.y);
  const int64_t plane = draft_plane(s.frame->film);
#pragma unroll
  for (int i = 0; i < rt::kDraftPlanes; ++i) to[i * plane] = values[i];
}

// What the sky sends to a surface, added to `radiance`, or kept for the filter of a draft.
template <class Traversal>
RT_DEVICE Vec3<float> add_sky(const rt::SceneTables& s, const Traversal& traversal, const PathState<float>& p,
                              const Surface<float>& f, Vec3<float> ambient, Vec3<float> radiance) {
  const rt::Integrator& integrator = s.frame->integrator;
  bool open = false;
  for (int ray = 0; ray < sky_rays(integrator); ++ray) {
    const SkySample<float> a = shade_sky(s, p, f, ambient, ray);
    if (!a.contributes || !traces_sky(s, p) ||
        path_occluded(s, traversal, p, f.point.position, a.wi, leaving(p, f), sky_distance(integrator)))
      continue;
    if (keeps_surface(s, p))
      open = true;
    else
      radiance = radiance + a.radiance;
  }
  if (keeps_surface(s, p)) keep_surface(s, p, f, ambient, open);
  return radiance;
}

#if !RT_PATH_TRACING  // trace_paths.cuh

// Radiance and coverage of a path whose camera ray meets p.prim.
template <class Traversal>
RT_DEVICE float4 trace_path(const rt::SceneTables& s, const Traversal& traversal, PathState<float> p) {
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  const float coverage = path_coverage(p);
  for (;;) {
    if (p.prim == kNoPrim) {
      radiance = radiance + shade_miss(*s.frame, p);
      break;
    }
    const Surface<float> f = path_surface(s, p, traversal.primitive(p.prim));
    const Vec3<float> ambient = shade_ambient(s.frame->environment, p, f);
    if (sky_rays(s.frame->integrator))
      radiance = add_sky(s, traversal, p, f, ambient, radiance);
    else
      radiance = radiance + ambient;
    radiance = add_lights(s, traversal, p, f, radiance);
    if (!path_continues(*s.frame, p, f)) break;
    PathStep<float> step = next_step(*s.frame, p, f);
    p = step.path;
    path_intersect_closest(s, traversal, p, step.self, step.t);
  }
  return make_float4(radiance.x, radiance.y, radiance.z, coverage);
}

#endif

}  // namespace RT_NS
