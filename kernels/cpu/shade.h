// Shading of one bounce of a tile, a vector of rays at a time.
#pragma once
#include "primary.h"
#include "shadow.h"
#include "stream.h"
#include "../integrator/surface_step.h"
#if RT_FULL_SHADING
#include "media.h"
#include "../integrator/shadow_catcher.h"
#endif

namespace RT_NS {

// The paths of the vector of the wave at `at`.
RT_HD PathState<FW> load_paths(const rt::Scratch& k, const rt::Wave& w, int at) {
  PathState<FW> p;
  p.ray = {load3(w.origin, at), load3(w.direction, at)};
  p.prim = load<UW>(w.prim + at);
  p.sample = w.sample, p.depth = w.depth;
  p.scatter_pdf = RT_FULL_SHADING && w.depth ? load<FW>(w.scatter_pdf + at) : FW(0.0f);
  if (w.depth == 0) {
    p.throughput = {FW(1.0f), FW(1.0f), FW(1.0f)};
    p.x = load<UW>(k.x + at), p.y = load<UW>(k.y + at);
  } else {
    p.throughput = load3(w.throughput, at);
    UW slot = load<UW>(w.slot + at) & UW((uint32_t)rt::kTileRays - 1);  // behind the last ray there may be any number
    p.x = gather((const int32_t*)k.x, slot), p.y = gather((const int32_t*)k.y, slot);
  }
  return p;
}

RT_HD void add_lanes(float* to, FW add, MW mask) {
  FW old = load<FW>(to);
  store(to, select(mask, old + add, old));
}

RT_HD void add_radiance(rt::Scratch& k, const rt::Wave& w, int at, uint32_t mask, Vec3<FW> add) {
  if (w.depth == 0) {  // slot == place in the wave
    MW m = mask_from_bits<MW>(mask);
    add_lanes(k.sample[0] + at, add.x, m), add_lanes(k.sample[1] + at, add.y, m), add_lanes(k.sample[2] + at, add.z, m);
    return;
  }
  alignas(64) float lane[3][kWide];
  store3(lane, 0, add);
  for (; mask; mask &= mask - 1) {
    int i = __builtin_ctz(mask);
    add_to_slot(k, w.slot[at + i], lane3(lane, i));
  }
}

// The lanes of the vector at `at` that hold rays.
RT_HD uint32_t live_at(const rt::Wave& w, int at) {
  int left = w.count - at;
  return left >= kWide ? (uint32_t)((1ull << kWide) - 1) : (1u << left) - 1u;
}

RT_HD uint32_t hits_of(const PathState<FW>& p, uint32_t live) { return live & ~bits(p.prim == UW(kNoPrim)); }

// The surfaces that the paths of some lanes meet; the other lanes get sphere 0.
RT_HD Surface<FW> load_surfaces(const rt::SceneView& s, PathState<FW>& p, uint32_t hits) {
  p.prim = select(mask_from_bits<MW>(hits), p.prim, UW(0u));
  return path_surface(s, p, gather_primitives(s, p.prim));
}

// Lights first..end - 1, for which there is a queue each.
struct LightGroup {
  int first, end;
};

RT_HD LightGroup light_group(const rt::Frame& frame, int first) {
  int end = first + rt::kShadowQueues;
  return {first, end < frame.scene.light_count ? end : frame.scene.light_count};
}

// Trace what is queued for a group of lights and add what contributes: for each camera ray in their order.
inline void trace_group(const rt::SceneView& s, rt::Scratch& k, uint32_t sample, LightGroup g) {
  for (int light = g.first; light < g.end; ++light) {
    rt::ShadowQueue& q = k.shadow[light - g.first];
    if (is_cancelled(s)) {
      q.count = 0;
      continue;
    }
    trace_shadows(s, k, sample, s.lights[light], q);
    for (int i = 0; i < q.count; ++i) {
      // No branch: half of the rays are blocked, in no order. No product: radiance may be infinite.
      const uint32_t slot = q.slot[i], seen = 0u - q.visible[i];
      for (int c = 0; c < 3; ++c) k.sample[c][slot] += as_float(as_uint(q.radiance[c][i]) & seen);
    }
    q.count = 0;
  }
}

RT_HD void queue_shadows(rt::ShadowQueue& q, const rt::Wave& w, int at, uint32_t mask, UW self,
                         const DirectLightSample<FW>& a) {
  const LightSample<FW>& l = a.sample;
  int n = q.count;
  store_packed3(q.origin, n, a.origin, mask), store_packed(q.distance + n, l.distance, mask);
  store_packed3(q.direction, n, l.wi, mask), store_packed3(q.radiance, n, a.radiance, mask);
  store_packed(q.slot + n, load<UW>(w.slot + at), mask), store_packed(q.self + n, self, mask);
  q.count += __builtin_popcount(mask);
}

// The paths of a vector that go on, appended to the next bounce.
RT_HD void queue_steps(const rt::Wave& w, int at, uint32_t mask, const PathStep<FW>& step, rt::Wave& next) {
  const PathState<FW>& p = step.path;
  const int n = next.count;
  store_packed3(next.origin, n, p.ray.origin, mask), store_packed(next.t + n, step.t, mask);
  store_packed3(next.direction, n, p.ray.direction, mask), store_packed3(next.throughput, n, p.throughput, mask);
  if (RT_FULL_SHADING) store_packed(next.scatter_pdf + n, p.scatter_pdf, mask);
  store_packed(next.prim + n, p.prim, mask), store_packed(next.self + n, step.self, mask);
  store_packed(next.slot + n, load<UW>(w.slot + at), mask);
  next.count += __builtin_popcount(mask);
}

// Those of the rays in `mask`, of paths p, that nothing but `self` is in the way of, up to t_max.
RT_CALLED uint32_t unblocked(const rt::SceneView& s, const PathState<FW>& p, Vec3<FW> origin, Vec3<FW> direction,
                             UW self, FW t_max, uint32_t mask) {
  if (s.frame->scene.large_count && mask)
    mask &= ~bits(large_occluded<FW>(s.large, s.frame->scene.large_count, origin, direction, self, t_max,
                                     ray_filter<FW>(s, p.x, p.y, p.sample, origin, direction, true)));
  alignas(64) float from[3][kWide], to[3][kWide], distance[kWide];
  alignas(64) uint32_t own[kWide], x[kWide], y[kWide];
  store3(from, 0, origin), store3(to, 0, direction), store(distance, t_max), store(own, self);
  if (RT_FULL_SHADING) store(x, p.x), store(y, p.y);
  uint32_t seen = mask;
  for (; mask; mask &= mask - 1) {
    const int i = __builtin_ctz(mask);
    const Vec3<float> o = lane3(from, i), d = lane3(to, i);
    const auto filter = ray_filter<float>(s, x[i], y[i], p.sample, o, d, true);
    if (occluded(s, o, d, own[i], distance[i], filter)) seen &= ~(1u << i);
  }
  return seen;
}

// The filters of the rays of a stream; to_light: what ray_filter asks.
RT_HD auto stream_filters(const rt::SceneView& s, const rt::Scratch& k, uint32_t sample, bool to_light) {
  return [&s, &k, sample, to_light](const rt::StreamRay& r) {
    return ray_filter<float>(s, k.x[r.slot], k.y[r.slot], sample, origin_of(r), direction_of(r), to_light);
  };
}

// Surfaces of a wave whose occlusion rays are traced together.
RT_HD int ao_batch(const rt::Frame& frame) {
  const int rays = ao_rays(frame.integrator);
  return rays ? kWide * (rt::kStreamRays / (kWide * rays)) : rt::kTileRays;
}

// Traces the occlusion rays from the surfaces begin..end - 1 of a wave: k.stream.open, for each vector and ray.
inline void trace_ao(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int begin, int end) {
  rt::RayStream& q = k.stream;
  const int rays = ao_rays(s.frame->integrator);
  const FW distance(s.frame->integrator.ao_distance);
  uint32_t* open = q.open;
  q.count = 0;
  for (int at = begin; at < end; at += kWide) {
    PathState<FW> p = load_paths(k, w, at);
    const uint32_t hits = hits_of(p, live_at(w, at));
    if (!hits) {
      for (int ray = 0; ray < rays; ++ray) *open++ = 0;
      continue;
    }
    const Surface<FW> f = load_surfaces(s, p, hits);
    const UW self = leaving(p, f), slot = load<UW>(w.slot + at);
    for (int ray = 0; ray < rays; ++ray) {
      const DirectLightSample<FW> a = shade_ao(s, p, f, Vec3<FW>{FW(1.0f), FW(1.0f), FW(1.0f)}, ray);
      uint32_t free = hits & bits(a.contributes);
      if (s.frame->scene.large_count && free)
        free &= ~bits(large_occluded<FW>(s.large, s.frame->scene.large_count, a.origin, a.sample.wi, self, distance,
                                         ray_filter<FW>(s, p.x, p.y, p.sample, a.origin, a.sample.wi, true)));
      queue_stream(q, a.origin, a.sample.wi, distance, self, UW(kNoPrim), slot, free);
      *open++ = free;
    }
  }
  trace_stream<FindAny>(s, q, stream_filters(s, k, w.sample, true));
  const rt::StreamRay* r = q.ray;
  for (uint32_t* m = q.open; m < open; ++m)
    for (uint32_t left = *m; left; left &= left - 1, ++r) *m &= ~((uint32_t)(r->t < 0.0f) << __builtin_ctz(left));
}

// What a draft keeps of a vector of camera rays: four rays in a row of a quad are four pixels in a row.
RT_HD void keep_surfaces(const rt::SceneView& s, const rt::Scratch& k, int at, const PathState<FW>& p,
                         const Surface<FW>& f, Vec3<FW> ambient, uint32_t hits, uint32_t open) {
  const FW depth = select(mask_from_bits<MW>(hits), draft_depth(s, p, f), FW(kNoSurface));
  const FW seen = select(mask_from_bits<MW>(open), FW(1.0f), FW(0.0f));
  const Vec3<FW> n = f.point.normal;
  const FW values[rt::kDraftPlanes] = {seen, depth, n.x, n.y, n.z, ambient.x, ambient.y, ambient.z};
  alignas(64) float lane[rt::kDraftPlanes][kWide];
  for (int plane = 0; plane < rt::kDraftPlanes; ++plane) store(lane[plane], values[plane]);
  const int64_t planes_apart = draft_plane(s.frame->film);
  for (int i = 0; i < kWide; i += 4) {
    const int64_t inside = (int64_t)s.frame->film.x1 - k.x[at + i];  // blocks reach beyond the film
    if (!(hits >> i & 15u) || (int64_t)k.y[at + i] >= s.frame->film.y1) continue;
    for (int j = 0; j < 4; ++j)
      if (j >= inside) lane[kDraftDepth][i + j] = kNoSurface;
    float* to = draft_at(s, k.x[at + i], k.y[at + i]);
    for (int plane = 0; plane < rt::kDraftPlanes; ++plane)
      memcpy(to + plane * planes_apart, lane[plane] + i, 4 * sizeof(float));
  }
}

// Nearest hits of the rays of a wave that bounced.
inline void trace_wave(const rt::SceneView& s, rt::Scratch& k, rt::Wave& w) {
  if (!s.nodes) return;
  rt::RayStream& q = k.stream;
  q.count = 0;
  for (int at = 0; at < w.count; at += kWide)
    queue_stream(q, load3(w.origin, at), load3(w.direction, at), load<FW>(w.t + at), load<UW>(w.self + at),
                 load<UW>(w.prim + at), load<UW>(w.slot + at), live_at(w, at));
  const auto filters = stream_filters(s, k, w.sample, false);
  if (s.frame->scene.large_count)
    for (int i = 0; i < q.count; ++i) {
      rt::StreamRay& r = q.ray[i];
      large_intersect_closest<float>(s.large, s.frame->scene.large_count, origin_of(r), direction_of(r), r.self, r.t,
                                     r.prim, filters(r));
    }
  trace_stream<FindClosest>(s, q, filters);
  for (int i = 0; i < w.count; ++i) w.t[i] = q.ray[i].t, w.prim[i] = q.ray[i].prim;
}

// As integrator/surface_step.h asks for rays, of the vector of a wave at `at`.
struct VectorTracer {
  static constexpr bool kSharesRays = false;
  const rt::SceneView& scene;
  rt::Scratch& scratch;
  const rt::Wave& wave;
  rt::Wave* next;  // bounce
  int at;
  const uint32_t* open;  // of trace_ao, for each occlusion ray
  LightGroup queued;  // lights whose shadow rays are queued, where no paths are traced

  RT_HD Surface<FW> surface(uint32_t mask, PathState<FW>& p) const { return load_surfaces(scene, p, mask); }
  RT_HD void add(uint32_t mask, Vec3<FW> radiance) const { add_radiance(scratch, wave, at, mask, radiance); }
  RT_HD DirectLightSample<FW> ao_sample(const PathState<FW>&, const Surface<FW>& f, Vec3<FW> ambient, int) const {
    DirectLightSample<FW> a;  // its ray has been traced
    a.origin = f.point.position, a.contributes = splat_mask<FW>(true);
    a.radiance = ao_radiance(*scene.frame, ambient);
    return a;
  }
  RT_HD int light_end(int samples) const { return RT_FULL_SHADING ? samples : queued.end; }
  // Rays that lead anywhere are traced one by one, at once; those to Phong's lights are queued, to be sorted.
  RT_HD uint32_t visible(uint32_t mask, int number, const PathState<FW>& p, const Surface<FW>& f,
                         const DirectLightSample<FW>& a) const {
    if (number < 0) return mask & open[number + ao_rays(scene.frame->integrator)];
    if (RT_FULL_SHADING) return visible_rarely(mask, p, f, a);
    queue_shadows(scratch.shadow[number - queued.first], wave, at, mask, leaving(p, f), a);
    return 0;
  }
  RT_HD uint32_t visible_rarely(uint32_t mask, const PathState<FW>& p, const Surface<FW>& f,
                                const DirectLightSample<FW>& a) const {
    return unblocked(scene, p, a.origin, a.sample.wi, leaving(p, f), a.sample.distance, mask);
  }
  RT_HD void keep_surface(uint32_t mask, const PathState<FW>& p, const Surface<FW>& f, Vec3<FW> ambient,
                          uint32_t seen) const {
    keep_surfaces(scene, scratch, at, p, f, ambient, mask, seen);
  }
  RT_HD void push(uint32_t mask, const PathState<FW>& p, const Surface<FW>& f, const PathStep<FW>& step) const {
#if RT_FULL_SHADING
    if (nests(*scene.frame)) queue_media(scene, p, f, step.path, mask, *next);
#endif
    queue_steps(wave, at, mask, step, *next);
  }
};

#if RT_FULL_SHADING

// Those of the camera rays `hits` of a vector that meet a ground which catches shadows.
inline uint32_t shade_catcher(VectorTracer& tracer, const PathState<FW>& camera, uint32_t hits) {
  const rt::SceneView& s = tracer.scene;
  PathState<FW> p = camera;
  p.prim = select(mask_from_bits<MW>(hits), p.prim, UW(0u));
  const uint32_t mask = hits & bits(meets_catcher(s, p));
  if (!mask) return 0;
  const FW alpha = caught_shadow<FW>(s, tracer, mask, p);
  tracer.add(mask, (FW(1.0f) - alpha) * shade_miss(s, camera));
  float* to = tracer.scratch.sample[3] + tracer.at;
  if (!shows_environment(*s.frame)) store(to, select(mask_from_bits<MW>(mask), alpha, load<FW>(to)));
  return mask;
}

#else

// Trace the shadow rays of begin..end - 1 and add what contributes. The first group of lights is queued; for
// those that have no queue of their own the surfaces are loaded again, group by group, so that a thread's
// memory does not grow with the number of lights.
inline void flush_shadows(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int begin, int end) {
  LightGroup g = light_group(*s.frame, 0);
  trace_group(s, k, w.sample, g);
  for (g = light_group(*s.frame, g.end); s.frame->integrator.shadows && g.first < g.end && !is_cancelled(s);
       g = light_group(*s.frame, g.end)) {
    for (int at = begin; at < end; at += kWide) {
      PathState<FW> p = load_paths(k, w, at);
      uint32_t hits = hits_of(p, live_at(w, at));
      if (!hits) continue;
      const Surface<FW> f = load_surfaces(s, p, hits);
      VectorTracer tracer = {s, k, w, nullptr, at, nullptr, g};
      add_lights(s, tracer, hits, p, f, f.bsdf, Vec3<FW>(), g.first, true);
    }
    trace_group(s, k, w.sample, g);
  }
  k.queued = 0;
}

#endif

// Adds what the wave's rays see to the tile, and fills the next bounce.
inline void shade_wave(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, rt::Wave& next) {
  const rt::Frame& frame = *s.frame;
  next.count = 0, next.depth = w.depth + 1, next.sample = w.sample;
  const LightGroup all = {0, frame.scene.light_count};
  const LightGroup queued = frame.integrator.shadows ? light_group(frame, 0) : all;
  [[maybe_unused]] int begin = 0;
  int ao_begin = 0;
  const int rays = ao_rays(frame.integrator), ao_surfaces = ao_batch(frame);
  for (int at = 0; at < w.count && !is_cancelled(s); at += kWide) {
    if (rays && at % ao_surfaces == 0)
      trace_ao(s, k, w, ao_begin = at, w.count - at < ao_surfaces ? w.count : at + ao_surfaces);
    VectorTracer tracer = {s, k, w, &next, at, k.stream.open + (at - ao_begin) / kWide * rays, queued};
    PathState<FW> p = load_paths(k, w, at);
    const uint32_t live = live_at(w, at);
    uint32_t hits = hits_of(p, live);
#if RT_FULL_SHADING
    if (nests(frame))
      load_media(w, at, p);
    else if (w.depth > 0)
      add_crossed_lights(s, tracer, live, p, load<FW>(w.t + at));
#endif
    if (live & ~hits) tracer.add(live & ~hits, shade_miss(s, p));
    if (w.depth == 0) store(k.sample[3] + at, camera_coverage(frame, p));
#if RT_FULL_SHADING
    if (w.depth == 0 && catches_shadows(frame)) hits &= ~shade_catcher(tracer, p, hits);
    hits &= ~bits(is_beyond_last(p));
#else
    if (hits && (k.queued += kWide) > rt::kShadowBatch) flush_shadows(s, k, w, begin, at), begin = at, k.queued = kWide;
#endif
    if (hits) surface_step<FW>(s, tracer, hits, p);
  }
#if !RT_FULL_SHADING
  flush_shadows(s, k, w, begin, w.count);
#endif
}

}  // namespace RT_NS
