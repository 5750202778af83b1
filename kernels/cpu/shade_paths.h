// Shading of one bounce of a tile where paths are traced: any material, lights with an extent. Rays to lights leave in
// many directions here, so that each is traced alone, at once.
#pragma once
#include "shade.h"
#include "../integrator/path_tracing.h"

namespace RT_NS {

// What the lights send to the surfaces of a vector.
RT_HD void shade_path_lights(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int at, uint32_t hits,
                             const PathState<FW>& p, const Surface<FW>& f, const Scattering<FW>& scattering) {
  for (int i = 0; i < light_samples(*s.frame); ++i) {
    const LitSample<FW> a = shade_path_light(s, i, p, f, scattering);
    uint32_t lit = hits & bits(a.contributes);
    if (casts_shadows(s, i)) lit = unblocked(s, p, a.origin, a.sample.wi, leaving(p, f), a.sample.distance, lit);
    if (lit) add_radiance(k, w, at, lit, a.radiance);
  }
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
    const uint32_t live = live_at(w, at), hits = hits_of(p, live);
    if (paths && w.depth > 0)
      for (int i = 0; i < frame.scene.light_count; ++i)
        if (has_extent(s.lights[i]))
          add_radiance(k, w, at, live, shade_crossing(frame, s.lights[i], p, load<FW>(w.t + at)));
    if (live & ~hits) add_radiance(k, w, at, live & ~hits, shade_sky_miss(s, p));
    if (w.depth == 0) store(k.alpha + at, camera_coverage(frame, p));
    if (!hits) continue;
    const Surface<FW> f = load_surfaces(s, p, hits);
    p.throughput = p.throughput * inner_transmittance(p, f);
    const Scattering<FW> scattering = path_scattering(p, f);
    add_radiance(k, w, at, hits, shade_emission(frame, p, f, scattering));
    if (!paths) {
      const Vec3<FW> ambient = shade_path_ambient(frame, p, scattering);
      if (sky_rays(frame.integrator))
        add_sky(s, k, w, at, sky_begin, ambient);
      else
        add_radiance(k, w, at, hits, ambient);
    }
    shade_path_lights(s, k, w, at, hits, p, f, scattering);
    const ScatterStep<FW> step = scatter_path(frame, p, f, scattering);
    const uint32_t going_on = hits & bits(step.continues);
    if (going_on) queue_steps(w, at, going_on, step.step, next);
  }
}

}  // namespace RT_NS
