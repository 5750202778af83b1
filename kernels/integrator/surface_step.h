// One surface of paths: its emission, ambient light, the lights, and the ray from there. The order in which light is
// added is that of this function, on both sides, for every integrator and material.
//
// F: float for one path; a vector for the paths of its lanes `mask`, which meet a surface. The tracer traces the rays and
// keeps the sums. number of a ray to a light: of shade_light, or negative for a ray of ambient occlusion. It has
//   Surface<F> surface(mask, p)                         where paths p meet p.prim
//   void add(mask, radiance)
//   DirectLightSample<F> ao_sample(p, f, ambient, ray)  the light of an occlusion ray
//   BitsOf<F> visible(mask, number, p, f, sample)       samples that nothing keeps off; others may be added later
//   BitsOf<F> visible_rarely(mask, p, f, sample)        the same for rays that few surfaces need
//   void add_ao(mask, p, f, ambient, rays)              the light of all occlusion rays of surfaces, where kSharesRays
//   void keep_surface(mask, p, f, ambient, open)        what a draft keeps; open: occlusion rays that meet nothing
//   void push(mask, p, f, step)                         paths that go on
#pragma once
#include "integrators.h"
#if RT_FULL_SHADING
#include "path_tracing.h"
#endif

namespace RT_NS {

// Adds the light of occlusion rays, numbers from `begin` to -1, and of light samples if `lights`. One loop, so that a GPU's
// kernel has the traversal for these rays once; its end is computed in each turn, since a GPU has no register to keep it.
// Returns which surfaces of a draft see the sky: their light is kept.
template <class F, class Tracer, class Scattering>
RT_HD BitsOf<F> add_lights(const rt::SceneTables& s, Tracer& tracer, BitsOf<F> mask, const PathState<F>& p,
                           const Surface<F>& f, const Scattering& scattering, Vec3<F> ambient, int begin, bool lights) {
  const rt::Frame& frame = *s.frame;
  BitsOf<F> open = 0;
  for (int i = begin; i < (lights ? tracer.light_end(light_samples(frame)) : 0); ++i) {
    DirectLightSample<F> a;
    if (i < 0)
      a = tracer.ao_sample(p, f, ambient, i - begin);
    else
      a = shade_light(s, i, p, f, scattering);
    BitsOf<F> lit = mask & bits(a.contributes);
    if (lit && (i < 0 || casts_shadows(s, i))) lit = tracer.visible(lit, i, p, f, a);
    if (!lit) continue;
    if (i < 0 && keeps_surface(s, p))
      open = lit;
    else
      tracer.add(lit, a.radiance);
  }
  return open;
}

#if RT_FULL_SHADING

// Adds area lights that directions b, sampled from narrow lobes, meet where paths end.
template <class F, class Tracer>
RT_HD void add_bsdf_sampled_lights(const rt::SceneTables& s, Tracer& tracer, BitsOf<F> mask, const PathState<F>& p,
                                   const Surface<F>& f, const ScatteringSample<F>& b) {
  const rt::Frame& frame = *s.frame;
  for (int i = 0; i < light_count(frame); ++i) {
    if (!is_bsdf_sampled(frame, s.lights[i])) continue;
    const DirectLightSample<F> a = shade_bsdf_sampled_light(frame, s.lights[i], b, p, f);
    BitsOf<F> lit = mask & bits(a.contributes);
    if (lit) lit = tracer.visible_rarely(lit, p, f, a);
    if (lit) tracer.add(lit, a.radiance);
  }
}

// Adds the area lights that rays cross before t.
template <class F, class Tracer>
RT_HD void add_crossed_lights(const rt::SceneTables& s, Tracer& tracer, BitsOf<F> mask, const PathState<F>& p, F t) {
  if (!traces_paths(s.frame->integrator)) return;
  for (int i = 0; i < light_count(*s.frame); ++i)
    if (is_area_light(s.lights[i])) tracer.add(mask, shade_crossing(*s.frame, s.lights[i], p, t));
}

#endif

// Returns which paths go on; p: the paths, whose throughput may change, none of them beyond their last surface.
template <class F, class Tracer>
RT_HD BitsOf<F> surface_step(const rt::SceneTables& s, Tracer& tracer, BitsOf<F> mask, PathState<F>& p) {
  const rt::Frame& frame = *s.frame;
  const Surface<F> f = tracer.surface(mask, p);
#if RT_FULL_SHADING
  if (!nests(frame)) p.throughput = p.throughput * inner_transmittance(p, f);
  const Scattering<F> scattering = surface_scattering(frame, p, f);
  tracer.add(mask, shade_emission(frame, p, f, scattering));
#else
  const Bsdf<F>& scattering = f.bsdf;
#endif
  const int rays = ao_rays(frame.integrator);
  Vec3<F> ambient = {F(0.0f), F(0.0f), F(0.0f)};
  if (!traces_paths(frame.integrator)) {
    ambient = shade_ambient(frame, p, scattering);
    if (!rays) tracer.add(mask, ambient);
  }
  BitsOf<F> open = 0;
  if constexpr (Tracer::kSharesRays)
    tracer.add_ao(mask, p, f, ambient, rays);
  else
    open = add_lights(s, tracer, mask, p, f, scattering, ambient, -rays, RT_FULL_SHADING);
  if (rays && keeps_surface(s, p)) tracer.keep_surface(mask, p, f, ambient, open);
#if !RT_FULL_SHADING
  add_lights(s, tracer, mask, p, f, scattering, ambient, 0, true);
#endif
#if RT_FULL_SHADING
  const BitsOf<F> sampling = mask & bits(uses_bsdf_sampling(s, scattering));
  ScatteringSample<F> scattered = {};
  if (sampling || traces_paths(frame.integrator)) scattered = sample_direction(frame, p, scattering);
  if (sampling) add_bsdf_sampled_lights(s, tracer, sampling, p, f, scattered);
  const ScatterStep<F> next = scatter_path(frame, p, f, scattered);
  const BitsOf<F> going_on = mask & bits(next.continues);
  if (going_on) tracer.push(going_on, p, f, next.step);
#else
  const BitsOf<F> going_on = mask & bits(path_continues(frame.integrator, p, f));
  if (going_on) tracer.push(going_on, p, f, mirror_step(frame, p, f));
#endif
  return going_on;
}

}  // namespace RT_NS
