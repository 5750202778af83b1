// Shading of one bounce of a tile where paths are traced: any material, lights with an extent. Rays to lights leave in
// many directions here, so that each is traced alone, at once.
#pragma once
#include "shade.h"
#include "../integrator/media.h"
#include "../integrator/shadow_catcher.h"

namespace RT_NS {

// What the lights send to the surfaces of a vector.
RT_HD void shade_path_lights(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int at, uint32_t hits,
                             const PathState<FW>& p, const Surface<FW>& f, const Scattering<FW>& scattering) {
  for (int i = 0; i < light_samples(*s.frame, p.depth); ++i) {
    const LitSample<FW> a = shade_path_light(s, i, p, f, scattering);
    uint32_t lit = hits & bits(a.contributes);
    if (casts_shadows(s, i)) lit = unblocked(s, p, a.origin, a.sample.wi, leaving(p, f), a.sample.distance, lit);
    if (lit) add_radiance(k, w, at, lit, a.radiance);
  }
}

// Lights that directions b from narrow lobes of the surfaces `seeking` of a vector find, where no path goes on.
inline void shade_found_lights(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int at, uint32_t seeking,
                               const PathState<FW>& p, const Surface<FW>& f, const ScatteringSample<FW>& b) {
  const rt::Frame& frame = *s.frame;
  for (int i = 0; i < frame.scene.light_count; ++i) {
    if (!is_found(frame, s.lights[i])) continue;
    const LitSample<FW> a = shade_found_light(frame, s.lights[i], b, p, f);
    uint32_t lit = seeking & bits(a.contributes);
    if (lit) lit = unblocked(s, p, a.origin, a.sample.wi, leaving(p, f), a.sample.distance, lit);
    if (lit) add_radiance(k, w, at, lit, a.radiance);
  }
}

// As integrator/media.h asks for rays.
struct MediaTracer {
  const rt::SceneView& scene;

  RT_HD Primitive<float> primitive(uint32_t prim) const { return load_primitive(scene, prim); }
  RT_HD void intersect_closest(PathState<float>& p, uint32_t self, float& t) const {
    const auto filter = ray_filter<float>(scene, p.x, p.y, p.sample, p.ray.origin, p.ray.direction);
    RT_NS::intersect_closest(scene, p.ray.origin, p.ray.direction, self, t, p.prim, filter);
  }
  RT_HD void intersect_closest_except(PathState<float>& p, const uint32_t* except, float& t) const {
    const HitsExcept filter = {sample_hits<float>(scene, p.x, p.y, p.sample, p.ray.origin, p.ray.direction), except};
    RT_NS::intersect_closest(scene, p.ray.origin, p.ray.direction, kNoPrim, t, p.prim, filter);
  }
};

// The path of one ray of a wave.
RT_HD PathState<float> wave_path(const rt::Scratch& k, const rt::Wave& w, int i) {
  const uint32_t slot = w.depth ? w.slot[i] : (uint32_t)i;
  PathState<float> p = {};
  p.ray = {vec3(w.ox[i], w.oy[i], w.oz[i]), vec3(w.dx[i], w.dy[i], w.dz[i])};
  p.throughput = vec3(1.0f, 1.0f, 1.0f);
  p.prim = w.prim[i], p.x = k.x[slot], p.y = k.y[slot], p.sample = w.sample, p.depth = w.depth;
  if (!w.depth) return p;
  p.throughput = vec3(w.throughput[0][i], w.throughput[1][i], w.throughput[2][i]);
  p.scatter_pdf = w.scatter_pdf[i];
  for (int j = 0; j < kInteriorSolids; ++j) p.interior.solid[j] = w.solid[j][i];
  return p;
}

// Leads the rays of a wave on to surfaces that are there, where solids of glass are nested, with the light of what they
// cross.
inline void cross_wave(const rt::SceneView& s, rt::Scratch& k, rt::Wave& w) {
  const MediaTracer tracer = {s};
  for (int i = 0; i < w.count; ++i) {
    PathState<float> p = wave_path(k, w, i);
    if (!w.depth) enter_camera_media(s, p);
    Vec3<float> lit = vec3(0.0f, 0.0f, 0.0f);
    if (w.depth) lit = crossed_lights(s, p, w.t[i]);
    lit = lit + cross_media(s, tracer, p);
    if (w.depth) k.r[w.slot[i]] += lit.x, k.g[w.slot[i]] += lit.y, k.b[w.slot[i]] += lit.z;
    w.ox[i] = p.ray.origin.x, w.oy[i] = p.ray.origin.y, w.oz[i] = p.ray.origin.z;
    w.throughput[0][i] = p.throughput.x, w.throughput[1][i] = p.throughput.y, w.throughput[2][i] = p.throughput.z;
    w.prim[i] = p.prim, w.scatter_pdf[i] = p.scatter_pdf;
    w.index_here[i] = p.interior.index_here, w.index_beyond[i] = p.interior.index_beyond;
    for (int j = 0; j < kInteriorSolids; ++j) w.solid[j][i] = p.interior.solid[j];
  }
}

// What cross_wave left of the paths of the vector at `at`.
RT_HD void load_media(const rt::Wave& w, int at, PathState<FW>& p) {
  p.throughput = load3(w.throughput[0], w.throughput[1], w.throughput[2], at);
  p.interior.index_here = load<FW>(w.index_here + at), p.interior.index_beyond = load<FW>(w.index_beyond + at);
  for (int j = 0; j < kInteriorSolids; ++j) p.interior.solid[j] = load<UW>(w.solid[j] + at);
}

// The media of the paths of a vector that go on, appended to the next bounce.
RT_HD void queue_media(const rt::SceneView& s, const PathState<FW>& from, const Surface<FW>& f, PathState<FW> p,
                       uint32_t mask, rt::Wave& next) {
  leave_surface(s, from, f, p);
  for (int j = 0; j < kInteriorSolids; ++j) store_packed(next.solid[j] + next.count, p.interior.solid[j], mask);
}

// Those of the camera rays `hits` of a vector that meet a ground which catches shadows. sky_begin: as add_sky asks for it
inline uint32_t shade_catcher(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int at, int sky_begin,
                              const PathState<FW>& camera, uint32_t hits) {
  const rt::Frame& frame = *s.frame;
  const bool paths = traces_paths(frame.integrator);
  PathState<FW> p = catching_path(frame, camera);
  p.prim = select(mask_from_bits<MW>(hits), p.prim, UW(0u));
  const uint32_t mask = hits & bits(meets_catcher(s, p));
  if (!mask) return 0;
  const MW lanes = mask_from_bits<MW>(mask);
  Surface<FW> f = load_surfaces(s, p, mask);
  const Scattering<FW> scattering = catcher_scattering(frame, p, f);
  const UW self = leaving(p, f);
  CaughtLight<FW> caught = {FW(0.0f), FW(0.0f)};
  for (int i = 0; i < light_samples(frame, p.depth); ++i) {
    const LitSample<FW> a = shade_caught_light(s, i, p, f, scattering);
    const uint32_t arrives = mask & bits(a.contributes);
    uint32_t seen = arrives;
    if (casts_shadows(s, i)) seen = unblocked(s, p, a.origin, a.sample.wi, self, a.sample.distance, arrives);
    catch_light(caught, a.radiance, lanes & a.contributes, mask_from_bits<MW>(seen),
                is_sky_image(frame, i) ? whole_sky(frame, f) : FW(0.0f));
  }
  const Vec3<FW> ambient = shade_path_ambient(frame, p, scattering);
  const int rays = sky_rays(frame.integrator);
  for (int ray = 0; ray < rays; ++ray) {
    const uint32_t open = k.stream.open[(at - sky_begin) / kWide * rays + ray];
    catch_light(caught, sky_radiance(frame, ambient), lanes, mask_from_bits<MW>(open));
  }
  if (paths && !samples_sky(frame)) {
    const CaughtSky<FW> a = caught_sky(frame, p, f, scattering);
    const uint32_t seen = unblocked(s, p, f.point.position, a.wi, self, FW(kInfinity), mask);
    catch_light(caught, a.radiance, lanes, mask_from_bits<MW>(seen));
  } else if (!paths && !rays) {
    catch_light(caught, ambient, lanes, lanes);
  }
  const FW alpha = shadow_alpha(caught);
  add_radiance(k, w, at, mask, (FW(1.0f) - alpha) * shade_sky_miss(s, camera));
  if (!shows_sky(frame)) store(k.alpha + at, select(lanes, alpha, load<FW>(k.alpha + at)));
  return mask;
}

// Adds what the wave's rays see to the tile, and fills the next bounce.
inline void shade_wave(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, rt::Wave& next) {
  const rt::Frame& frame = *s.frame;
  const bool paths = traces_paths(frame.integrator);
  next.count = 0, next.depth = w.depth + 1, next.sample = w.sample;
  int sky_begin = 0;
  const int sky_surfaces = sky_batch(frame);
  for (int at = 0; at < w.count && !is_cancelled(s); at += kWide) {
    if (sky_rays(frame.integrator) && at % sky_surfaces == 0)
      trace_sky(s, k, w, sky_begin = at, w.count - at < sky_surfaces ? w.count : at + sky_surfaces);
    PathState<FW> p = load_paths(k, w, at);
    if (nests(frame)) load_media(w, at, p);
    const uint32_t live = live_at(w, at);
    uint32_t hits = hits_of(p, live);
    if (paths && w.depth > 0 && !nests(frame))
      for (int i = 0; i < frame.scene.light_count; ++i)
        if (has_extent(s.lights[i]))
          add_radiance(k, w, at, live, shade_crossing(frame, s.lights[i], p, load<FW>(w.t + at)));
    if (live & ~hits) add_radiance(k, w, at, live & ~hits, shade_sky_miss(s, p));
    if (w.depth == 0) store(k.alpha + at, camera_coverage(frame, p));
    if (w.depth == 0 && catches_shadows(frame)) hits &= ~shade_catcher(s, k, w, at, sky_begin, p, hits);
    if (!hits) continue;
    const Surface<FW> f = load_surfaces(s, p, hits);
    if (!nests(frame)) p.throughput = p.throughput * inner_transmittance(p, f);
    const Scattering<FW> scattering = lit_scattering(frame, p, f);
    add_radiance(k, w, at, hits, shade_emission(frame, p, f, scattering));
    if (!paths) {
      const Vec3<FW> ambient = shade_path_ambient(frame, p, scattering);
      if (sky_rays(frame.integrator))
        add_sky(s, k, w, at, sky_begin, p, f, ambient, hits);
      else
        add_radiance(k, w, at, hits, ambient);
    }
    shade_path_lights(s, k, w, at, hits, p, f, scattering);
    const uint32_t seeking = hits & bits(seeks_lights(s, scattering));
    ScatteringSample<FW> drawn = {};
    if (seeking || paths) drawn = draw_direction(frame, p, scattering);
    if (seeking) shade_found_lights(s, k, w, at, seeking, p, f, drawn);
    const ScatterStep<FW> step = scatter_path(frame, p, f, drawn);
    const uint32_t going_on = hits & bits(step.continues);
    if (going_on && nests(frame)) queue_media(s, p, f, step.step.path, going_on, next);
    if (going_on) queue_steps(w, at, going_on, step.step, next);
  }
}

}  // namespace RT_NS
