// A path through the scene, one thread (CUDA): integrator/surface_step.h from the camera ray's first hit on. The
// traversal is a template argument with
//   Primitive<float> primitive(prim)
//   void intersect_closest(o, d, self, t, prim, filter)   nearest hit before t, except `self`
//   bool occluded(o, d, self, t_max, filter)              whether anything except `self` is in (0, t_max)
// filter: integrator/hit_filter.h
#pragma once
#include "../integrator/surface_step.h"
#if RT_FULL_SHADING
#include "../integrator/media.h"
#include "../integrator/shadow_catcher.h"
#endif

// With nested glass rays are traced from so many places that traversal is called: inlined, the stacks of all places
// would add up in local memory (7,296 bytes of a thread in place of 5,136).
#if RT_FULL_SHADING && RT_NESTED
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
          (const rt::EnvironmentTexel*)a.sky,
          (const uint16_t*)a.opacity,
          &frame,
          (float*)a.draft,
#if RT_IMAGES
          (const rt::ImageLattice*)a.images
#endif
  };
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

// A pixel of a draft without a surface, to begin with.
RT_DEVICE void clear_draft(const rt::SceneTables& s, uint32_t x, uint32_t y) {
  draft_at(s, x, y)[kDraftDepth * draft_plane(s.frame->film)] = kNoSurface;
}

// What a draft keeps of a surface; open: whether its occlusion ray was.
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

#if RT_FULL_SHADING

// As integrator/media.h asks for rays.
template <class Traversal>
struct MediaTracer {
  const rt::SceneTables& scene;
  const Traversal& traversal;

  RT_DEVICE Primitive<float> primitive(uint32_t prim) const { return traversal.primitive(prim); }
  RT_DEVICE void intersect_closest(PathState<float>& p, uint32_t self, float& t) const {
    path_intersect_closest(scene, traversal, p, self, t);
  }
#if RT_ALPHA_CLIP && RT_NESTED
  RT_DEVICE void intersect_closest_except(PathState<float>& p, const uint32_t* except, float& t) const {
    const HitsExcept filter = {
        sample_hits<float>(scene, presence_key(*scene.frame, p.x, p.y), p.sample, p.ray.origin, p.ray.direction),
        except};
    const ClosestHit hit = closest_hit(scene, traversal, p.ray, kNoPrim, {t, p.prim}, filter);
    t = hit.t, p.prim = hit.prim;
  }
#endif
};

// A path after cross_media, and the radiance that it returns. Called: in few scenes is any glass nested.
struct Crossing {
  PathState<float> path;
  Vec3<float> radiance;
};

template <class Traversal>
RT_DEVICE_CALLED Crossing cross_path(const rt::SceneTables& s, const Traversal& traversal, PathState<float> p) {
  const Vec3<float> radiance = cross_media(s, MediaTracer<Traversal>{s, traversal}, p);
  return {p, radiance};
}

#endif

// Whether the lanes of a warp trace its occlusion rays together, also those whose paths meet nothing. All lanes take the
// steps of all paths then.
constexpr bool kSharesRays = RT_INTEGRATORS && !RT_DRAFTS && !RT_FULL_SHADING;

// Surfaces of a warp up to which their rays are dealt to all lanes: 8 rays of each of 24 take 6 turns in place of 8.
constexpr int kMaxDealt = 24;

// The place of bit number n, from 0 on, of those that are set.
RT_DEVICE int place_of_bit(uint32_t word, int n) {
  int at = 0;
#pragma unroll
  for (int width = 16; width; width /= 2) {
    const int below = __popc(word >> at & ((1u << width) - 1u));
    if (n >= below) n -= below, at += width;
  }
  return at;
}

template <class T> RT_DEVICE T of_lane(T value, int lane) { return __shfl_sync(~0u, value, lane); }
RT_DEVICE Vec3<float> of_lane(Vec3<float> v, int lane) {
  return {of_lane(v.x, lane), of_lane(v.y, lane), of_lane(v.z, lane)};
}

// As integrator/surface_step.h asks for rays, of one path.
template <class Traversal>
struct PathTracer {
  static constexpr bool kSharesRays = RT_NS::kSharesRays;
  const rt::SceneTables& scene;
  const Traversal& traversal;
  PathState<float>& path;  // moved on by push
  Vec3<float>& radiance;

  RT_DEVICE Surface<float> surface(bool, const PathState<float>& p) const {
    return path_surface(scene, p, traversal.primitive(p.prim));
  }
  RT_DEVICE void add(bool mask, Vec3<float> more) {
    if (mask) radiance = radiance + more;
  }
  RT_DEVICE DirectLightSample<float> ao_sample(const PathState<float>& p, const Surface<float>& f, Vec3<float> ambient,
                                               int ray) const {
    return shade_ao(scene, p, f, ambient, ray);
  }
  // By all lanes of a warp; where few of them meet a surface, all trace the rays of these. Rays are dealt by number: those
  // of neighbours with the same number go similar ways. Each lane adds the light of its own rays, in their order.
  RT_DEVICE void add_ao(bool mask, const PathState<float>& p, const Surface<float>& f, Vec3<float> ambient, int rays) {
    const uint32_t surfaces = __ballot_sync(~0u, mask), lane = threadIdx.x & 31u;
    const bool deals = __popc(surfaces) <= kMaxDealt;
    const int count = deals ? __popc(surfaces) : 32, end = count * rays;
    const Vec3<float> light = ao_radiance(*scene.frame, ambient);
    for (int begin = 0; begin < end; begin += 32) {
      PathState<float> q = p;
      Surface<float> g = f;
      int ray = begin / 32;
      bool open = mask;
      if (deals) {
        const int at = min(begin + (int)lane, end - 1);
        ray = at / count, open = begin + (int)lane < end;
        take_surface(q, g, place_of_bit(surfaces, at - ray * count));
      }
      if (open) {
        const DirectLightSample<float> a = ao_sample(q, g, ambient, ray);
        open = a.contributes && visible(true, -1, q, g, a);
      }
      if (!deals) {
        if (open) radiance = radiance + light;
        continue;
      }
      const uint32_t seen = __ballot_sync(~0u, open);
      const int rank = __popc(surfaces & ((1u << lane) - 1u)), first = (begin - rank + count - 1) / count;
      if (!mask) continue;
      for (int own = first * count + rank; own < min(begin + 32, end); own += count)
        if (seen >> (own - begin) & 1u) radiance = radiance + light;
    }
  }
  // Of another lane, what ao_sample and visible read.
  RT_DEVICE void take_surface(PathState<float>& p, Surface<float>& f, int from) const {
    p.x = of_lane(p.x, from), p.y = of_lane(p.y, from), p.depth = of_lane(p.depth, from);
    p.prim = of_lane(p.prim, from);
    f.point.position = of_lane(f.point.position, from), f.point.normal = of_lane(f.point.normal, from);
    f.point.inside = of_lane((int)f.point.inside, from) != 0;
    if (f.point.inside) f.primitive = traversal.primitive(p.prim);
  }
  RT_DEVICE int light_end(int samples) const { return samples; }
  RT_DEVICE bool visible(bool mask, int, const PathState<float>& p, const Surface<float>& f,
                         const DirectLightSample<float>& a) const {
    return mask &&
           !any_hit(scene, traversal, {a.origin, a.sample.wi}, leaving(p, f), a.sample.distance, light_filter(p, a));
  }
  RT_DEVICE bool visible_rarely(bool, const PathState<float>& p, const Surface<float>& f,
                                const DirectLightSample<float>& a) const {
    return !any_hit_called(scene, traversal, {a.origin, a.sample.wi}, leaving(p, f), a.sample.distance,
                           light_filter(p, a));
  }
  RT_DEVICE auto light_filter(const PathState<float>& p, const DirectLightSample<float>& a) const {
    return ray_filter<float>(scene, p.x, p.y, p.sample, a.origin, a.sample.wi, true);
  }
  RT_DEVICE void keep_surface(bool, const PathState<float>& p, const Surface<float>& f, Vec3<float> ambient,
                              bool open) const {
    RT_NS::keep_surface(scene, p, f, ambient, open);
  }
  RT_DEVICE void push(bool, const PathState<float>& p, const Surface<float>& f, const PathStep<float>& step) {
#if RT_FULL_SHADING
    const PathState<float> from = p;
    path = step.path;
    if (nests(*scene.frame)) leave_surface(scene, from, f, path);
#else
    path = step.path;
#endif
    float t = step.t;
    path_intersect_closest(scene, traversal, path, step.self, t);
#if RT_FULL_SHADING
    add_crossed_lights(scene, *this, true, path, t);
    if (!nests(*scene.frame)) return;
    const Crossing crossed = cross_path(scene, traversal, path);
    path = crossed.path, radiance = radiance + crossed.radiance;
#endif
  }
};

#if RT_FULL_SHADING

// Radiance and coverage of a camera ray that meets a ground which catches shadows.
template <class Traversal>
RT_DEVICE_CALLED float4 trace_shadow(const rt::SceneTables& s, const Traversal& traversal,
                                     const PathState<float>& camera) {
  PathState<float> path = camera;
  Vec3<float> radiance = {0.0f, 0.0f, 0.0f};
  PathTracer<Traversal> tracer = {s, traversal, path, radiance};
  const float alpha = caught_shadow<float>(s, tracer, true, camera);
  const Vec3<float> behind = (1.0f - alpha) * shade_miss(s, camera);
  return make_float4(behind.x, behind.y, behind.z, shows_environment(*s.frame) ? 1.0f : alpha);
}

#endif

// Radiance and coverage of a path whose camera ray meets p.prim. In other shapes of the two loops, the compiler spills up
// to a third more registers.
template <class Traversal>
RT_DEVICE float4 trace_path(const rt::SceneTables& s, const Traversal& traversal, PathState<float> p) {
#if RT_FULL_SHADING
  if (nests(*s.frame)) {
    enter_camera_media(s, p);
    p = cross_path(s, traversal, p).path;
  }
#endif
  Vec3<float> radiance = {0.0f, 0.0f, 0.0f};
  PathTracer<Traversal> tracer = {s, traversal, p, radiance};
#if RT_FULL_SHADING
  if (p.prim == kNoPrim) {
    radiance = shade_miss(s, p);
    return make_float4(radiance.x, radiance.y, radiance.z, camera_coverage(*s.frame, p));
  }
  if (catches_shadows(*s.frame) && meets_catcher(s, p)) return trace_shadow(s, traversal, p);
  const float coverage = 1.0f;
  while (surface_step<float>(s, tracer, true, p)) {
    if (p.prim != kNoPrim && !is_beyond_last(p)) continue;
    if (p.prim == kNoPrim) radiance = radiance + shade_miss(s, p);
    break;
  }
#else
  const float coverage = camera_coverage(*s.frame, p);
  if constexpr (kSharesRays) {
    bool goes_on = true;
    for (;;) {
      const bool meets = goes_on && p.prim != kNoPrim;
      if (goes_on && !meets) radiance = radiance + shade_miss(s, p);
      if (!__any_sync(~0u, meets)) break;
      if (!meets) p.prim = 0;  // its surface is not looked at
      goes_on = surface_step<float>(s, tracer, meets, p);
    }
  } else {
    for (;;) {
      if (p.prim == kNoPrim) {
        radiance = radiance + shade_miss(s, p);
        break;
      }
      if (!surface_step<float>(s, tracer, true, p)) break;
    }
  }
#endif
  return make_float4(radiance.x, radiance.y, radiance.z, coverage);
}

}  // namespace RT_NS
