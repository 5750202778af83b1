// A ground of which the camera sees the shadows alone. Where a camera ray meets it, the picture has in its alpha the share
// of light that things keep off, with the light of all lights and of the sky on white, and what is behind it. Other rays
// meet it as any surface: it reflects light onto things, and mirrors show it.
//
// Area lights and the sky are sampled, and each sample of a pixel has a share of its own. An environment map is sampled
// by its brightness, and its light by all samples together is known.
#pragma once
#include "ao.h"
#include "path_tracing.h"

namespace RT_NS {

// Light of a surface with nothing in the way, and what of it is missing.
template <class F>
struct CaughtLight {
  F all, missing;
};

// arrives: unless something is in the way. expected: mean of the light of all samples; 0: of this one
template <class F>
RT_HD void catch_light(CaughtLight<F>& caught, Vec3<F> radiance, MaskOf<F> arrives, MaskOf<F> is_seen,
                       F expected = F(0.0f)) {
  const F light = select(arrives, radiance.x + radiance.y + radiance.z, F(0.0f));
  caught.all = caught.all + select(expected > F(0.0f), expected, light);
  caught.missing = caught.missing + select(is_seen, F(0.0f), light);
}

// The scattering of the ground as if it was white: Phong's, and that of white paper in place of other materials, whose
// highlights are no part of a shadow and whose light from all of the sky is not known.
template <class F>
RT_HD Scattering<F> catcher_scattering(const rt::Frame& frame, const PathState<F>& p, Surface<F>& f) {
  const F zero(0.0f), one(1.0f);
  Bsdf<F>& b = f.bsdf;
  b.albedo = {one, one, one};
  b.phong.ambient = select(b.is_principled, one, b.phong.ambient);
  b.phong.diffuse = select(b.is_principled, one, b.phong.diffuse);
  b.phong.specular = select(b.is_principled, zero, b.phong.specular);
  b.phong.mirror = select(b.is_principled, zero, b.phong.mirror);
  b.is_principled = splat_mask<F>(false);
  return path_scattering(frame, p, f);
}

// Whether a camera ray meets the ground that catches shadows.
template <class F> RT_HD MaskOf<F> meets_catcher(const rt::SceneTables& s, const PathState<F>& p) {
  return (surface_of(s, p.prim) + UintOf<F>(1u)) == UintOf<F>((uint32_t)s.frame->environment.shadow_catcher);
}

// Whether samples of the environment map have the density of a cosine: unless it has a bright part. Samples of an even
// image by its brightness would lie below the ground in half of all cases.
RT_HD bool draws_cosine(const rt::Frame& frame) {
  return frame.environment_map.map_even && environment_casts_shadows(frame);
}

// Whether the light sample of that number is one of the environment map.
RT_HD bool is_environment_map(const rt::Frame& frame, int32_t number) {
  return environment_lights(frame) && number >= light_count(frame) && is_environment(frame, number);
}

// A direction with the density of a cosine.
template <class F> RT_HD Vec3<F> caught_direction(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  const Sample2d<F> u = sample_2d<F>(frame.sampler.seed, p.x, p.y, p.sample, (uint32_t)p.depth, kUseBsdf);
  return cosine_hemisphere(f.point.normal, u);
}

// Number of the light samples of the ground, of which one is that of any environment map.
RT_HD int32_t caught_light_samples(const rt::Frame& frame) {
  return light_count(frame) + (emitter_count(frame) ? 1 : 0) + (environment_lights(frame) ? 1 : 0);
}

// The light sample of that number at the ground, 0 to caught_light_samples - 1.
template <class F>
RT_HD DirectLightSample<F> shade_caught_light(const rt::SceneTables& scene, int32_t number, const PathState<F>& p,
                                              const Surface<F>& f, const Scattering<F>& s) {
  const rt::Frame& frame = *scene.frame;
  AnyLightSample<F> light;
  if (is_environment_map(frame, number) && draws_cosine(frame)) {
    const Vec3<F> wi = caught_direction(frame, p, f);
    const F cosine = dot(wi, f.point.normal);
    light = {{wi, F(kInfinity), by_density(F(1.0f), cosine), cosine * F(kInvPi)},
             environment_light(scene.sky, frame, wi).radiance,
             splat_mask<F>(true)};
  } else {
    light = sample_any_light(scene, number, p, f);
  }
  return shade_light_sample(scene, number, light, p, f, s, splat_mask<F>(false));
}

// Mean of the samples of the environment map: what the ground shows of it with nothing in the way. f: of
// catcher_scattering
template <class F> RT_HD F whole_environment(const rt::Frame& frame, const Surface<F>& f) {
  const Phong<F>& m = f.bsdf.phong;
  return (scattered_share(m) * m.diffuse) * F(frame.environment.environment_light);
}

// What the ground shows of a sky without an image, by one ray of that density.
template <class F>
RT_HD DirectLightSample<F> caught_sky(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f,
                                      const Scattering<F>& s) {
  const Vec3<F> wi = caught_direction(frame, p, f);
  const Vec3<F> sky = splat3<F>(frame.environment.ambient) +
                      background(frame.environment, background_height_direction(frame.environment, wi));
  return {f.point.position, {wi, F(kInfinity), F(1.0f), F(0.0f)}, splat_mask<F>(true), scattering_ambient(s) * sky};
}

// The share of light that things keep off where the camera rays `mask` meet the ground. tracer: of surface_step.h
template <class F, class Tracer>
RT_HD F caught_shadow(const rt::SceneTables& s, Tracer& tracer, BitsOf<F> mask, const PathState<F>& camera) {
  const rt::Frame& frame = *s.frame;
  PathState<F> p = camera;
  p.depth = frame.integrator.max_depth;  // samples of light count in full: no path goes on from here
  Surface<F> f = tracer.surface(mask, p);
  const Scattering<F> scattering = catcher_scattering(frame, p, f);
  const MaskOf<F> all = mask_from_bits<MaskOf<F>>(mask);
  CaughtLight<F> caught = {F(0.0f), F(0.0f)};
  for (int i = 0; i < caught_light_samples(frame); ++i) {
    const DirectLightSample<F> a = shade_caught_light(s, i, p, f, scattering);
    BitsOf<F> seen = mask & bits(a.contributes);
    if (seen && casts_shadows(s, i)) seen = tracer.visible(seen, i, p, f, a);
    catch_light(caught, a.radiance, all & a.contributes, mask_from_bits<MaskOf<F>>(seen),
                is_environment_map(frame, i) ? whole_environment(frame, f) : F(0.0f));
  }
  const Vec3<F> ambient = shade_ambient(frame, p, scattering);
  const int rays = ao_rays(frame.integrator);
  const bool has_sky = traces_paths(frame.integrator) && !environment_lights(frame);
  for (int i = -rays; i < (has_sky ? 1 : 0); ++i) {
    const DirectLightSample<F> a =
        i < 0 ? tracer.ao_sample(p, f, ambient, i + rays) : caught_sky(frame, p, f, scattering);
    const BitsOf<F> seen = tracer.visible(mask & bits(a.contributes), i, p, f, a);
    catch_light(caught, a.radiance, all & a.contributes, mask_from_bits<MaskOf<F>>(seen));
  }
  if (!traces_paths(frame.integrator) && !rays) catch_light(caught, ambient, all, all);
  return by_density(caught.missing, caught.all);
}

}  // namespace RT_NS
