// A path of any material and light, one thread (CUDA): as path.cuh, which has the traversal's interface.
#pragma once
#include "path.cuh"
#include "../integrator/media.h"
#include "../integrator/shadow_catcher.h"

namespace RT_NS {

// What the sky, by rays of ambient light, and the lights send to a surface of any material, added to `radiance`. One
// loop, so that the kernel has the traversal for these rays once.
template <class Traversal>
RT_DEVICE Vec3<float> add_path_lights(const rt::SceneTables& s, const Traversal& traversal, const PathState<float>& p,
                                      const Surface<float>& f, const Scattering<float>& scattering, Vec3<float> ambient,
                                      Vec3<float> radiance) {
  const rt::Frame& frame = *s.frame;
  const int from_sky = traces_paths(frame.integrator) ? 0 : sky_rays(frame.integrator);
  bool open = false;
  for (int i = -from_sky; i < light_samples(frame, p.depth); ++i) {
    LitSample<float> a;
    if (i < 0) {
      const SkySample<float> sky = shade_sky(s, p, f, ambient, i + from_sky);
      a = {f.point.position, {sky.wi, sky_distance(frame.integrator), 1.0f, 0.0f}, sky.contributes, sky.radiance};
    } else {
      a = shade_path_light(s, i, p, f, scattering);
    }
    if (!a.contributes || (i < 0 && !traces_sky(s, p))) continue;
    if ((i < 0 || casts_shadows(s, i)) &&
        path_occluded(s, traversal, p, a.origin, a.sample.wi, leaving(p, f), a.sample.distance))
      continue;
    if (i < 0 && keeps_surface(s, p))
      open = true;
    else
      radiance = radiance + a.radiance;
  }
  if (from_sky && keeps_surface(s, p)) keep_surface(s, p, f, ambient, open);
  return radiance;
}

// Lights that a direction b from the narrow lobes of a surface finds, where the path p ends there. Few surfaces have any,
// so that its rays are traced by a call.
template <class Traversal>
RT_DEVICE Vec3<float> found_lights(const rt::SceneTables& s, const Traversal& traversal, const PathState<float>& p,
                                   const Surface<float>& f, const ScatteringSample<float>& b) {
  const rt::Frame& frame = *s.frame;
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  for (int i = 0; i < frame.scene.light_count; ++i) {
    if (!is_found(frame, s.lights[i])) continue;
    const LitSample<float> a = shade_found_light(frame, s.lights[i], b, p, f);
    if (!a.contributes) continue;
    const auto filter = ray_filter<float>(s, p.x, p.y, p.sample, a.origin, b.wi, true);
    if (!any_hit_called(s, traversal, {a.origin, b.wi}, leaving(p, f), a.sample.distance, filter))
      radiance = radiance + a.radiance;
  }
  return radiance;
}

// As integrator/media.h asks for rays.
template <class Traversal>
struct MediaTracer {
  const rt::SceneTables& scene;
  const Traversal& traversal;

  RT_DEVICE Primitive<float> primitive(uint32_t prim) const { return traversal.primitive(prim); }
  RT_DEVICE void intersect_closest(PathState<float>& p, uint32_t self, float& t) const {
    path_intersect_closest(scene, traversal, p, self, t);
  }
#if RT_HIT_FILTERS && RT_NESTED
  RT_DEVICE void intersect_closest_except(PathState<float>& p, const uint32_t* except, float& t) const {
    const HitsExcept filter = {sample_hits<float>(scene, p.x, p.y, p.sample, p.ray.origin, p.ray.direction), except};
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

// One surface of a path, and the ray from there; returns whether the path goes on to a next surface.
template <class Traversal>
RT_DEVICE bool path_bounce(const rt::SceneTables& s, const Traversal& traversal, PathState<float>& p,
                           Vec3<float>& radiance) {
  const rt::Frame& frame = *s.frame;
  const Surface<float> f = path_surface(s, p, traversal.primitive(p.prim));
  if (!nests(frame)) p.throughput = p.throughput * inner_transmittance(p, f);
  const Scattering<float> scattering = lit_scattering(frame, p, f);
  radiance = radiance + shade_emission(frame, p, f, scattering);
  Vec3<float> ambient = vec3(0.0f, 0.0f, 0.0f);
  if (!traces_paths(frame.integrator)) {
    ambient = shade_path_ambient(frame, p, scattering);
    if (!sky_rays(frame.integrator)) radiance = radiance + ambient;
  }
  radiance = add_path_lights(s, traversal, p, f, scattering, ambient, radiance);
  const bool seeks = seeks_lights(s, scattering);
  ScatteringSample<float> drawn = {};
  if (seeks || traces_paths(frame.integrator)) drawn = draw_direction(frame, p, scattering);
  if (seeks) radiance = radiance + found_lights(s, traversal, p, f, drawn);
  const ScatterStep<float> next = scatter_path(frame, p, f, drawn);
  if (!next.continues) return false;
  const PathState<float> from = p;
  p = next.step.path;
  if (nests(frame)) leave_surface(s, from, f, p);
  float t = next.step.t;
  path_intersect_closest(s, traversal, p, next.step.self, t);
  if (traces_paths(frame.integrator))
    for (int i = 0; i < frame.scene.light_count; ++i)
      if (has_extent(s.lights[i])) radiance = radiance + shade_crossing(frame, s.lights[i], p, t);
  if (nests(frame)) {
    const Crossing crossed = cross_path(s, traversal, p);
    p = crossed.path, radiance = radiance + crossed.radiance;
  }
  if (p.prim != kNoPrim) return true;
  radiance = radiance + shade_sky_miss(s, p);
  return false;
}

// Radiance and coverage of a camera ray that meets a ground which catches shadows.
template <class Traversal>
RT_DEVICE_CALLED float4 trace_shadow(const rt::SceneTables& s, const Traversal& traversal,
                                     const PathState<float>& camera) {
  const rt::Frame& frame = *s.frame;
  const PathState<float> p = catching_path(frame, camera);
  Surface<float> f = path_surface(s, p, traversal.primitive(p.prim));
  const Scattering<float> scattering = catcher_scattering(frame, p, f);
  const uint32_t self = leaving(p, f);
  CaughtLight<float> caught = {0.0f, 0.0f};
  for (int i = 0; i < light_samples(frame, p.depth); ++i) {
    const LitSample<float> a = shade_caught_light(s, i, p, f, scattering);
    const bool blocked = a.contributes && casts_shadows(s, i) &&
                         path_occluded(s, traversal, p, a.origin, a.sample.wi, self, a.sample.distance);
    catch_light<float>(caught, a.radiance, a.contributes, !blocked,
                       is_sky_image(frame, i) ? whole_sky(frame, f) : 0.0f);
  }
  const Vec3<float> ambient = shade_path_ambient(frame, p, scattering);
  for (int ray = 0; ray < sky_rays(frame.integrator); ++ray) {
    const SkySample<float> a = shade_sky(s, p, f, ambient, ray);
    const bool blocked = path_occluded(s, traversal, p, f.point.position, a.wi, self, sky_distance(frame.integrator));
    catch_light<float>(caught, a.radiance, a.contributes, !blocked);
  }
  if (traces_paths(frame.integrator) && !samples_sky(frame)) {
    const CaughtSky<float> a = caught_sky(frame, p, f, scattering);
    const bool blocked = path_occluded(s, traversal, p, f.point.position, a.wi, self, kInfinity);
    catch_light<float>(caught, a.radiance, true, !blocked);
  } else if (!traces_paths(frame.integrator) && !sky_rays(frame.integrator)) {
    catch_light<float>(caught, ambient, true, true);
  }
  const float alpha = shadow_alpha(caught);
  const Vec3<float> behind = (1.0f - alpha) * shade_sky_miss(s, camera);
  return make_float4(behind.x, behind.y, behind.z, shows_sky(frame) ? 1.0f : alpha);
}

// Radiance and coverage of a path whose camera ray meets p.prim.
template <class Traversal>
RT_DEVICE float4 trace_path(const rt::SceneTables& s, const Traversal& traversal, PathState<float> p) {
  if (nests(*s.frame)) {
    enter_camera_media(s, p);
    p = cross_path(s, traversal, p).path;
  }
  if (p.prim == kNoPrim) {
    const Vec3<float> radiance = shade_sky_miss(s, p);
    return make_float4(radiance.x, radiance.y, radiance.z, camera_coverage(*s.frame, p));
  }
  if (catches_shadows(*s.frame) && meets_catcher(s, p)) return trace_shadow(s, traversal, p);
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  while (path_bounce(s, traversal, p, radiance)) {}
  return make_float4(radiance.x, radiance.y, radiance.z, 1.0f);
}

}  // namespace RT_NS
