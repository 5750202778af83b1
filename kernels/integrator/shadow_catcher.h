// A ground of which the camera sees the shadows alone. Where a camera ray meets it, the picture has in its alpha the share
// of light that things keep off, with the light of all lights and of the sky on white, and beside it what is behind. Other rays meet it as any surface: it reflects light onto things, and mirrors show it.
//
// Of light with an extent and of the sky, samples are taken, and each sample of a pixel has a share of its own. An image
// of the sky is sampled by its brightness, and its light by all samples together is known.
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

// The scattering of the ground as if it was white.
template <class F>
RT_HD Scattering<F> catcher_scattering(const rt::Frame& frame, const PathState<F>& p, Surface<F>& f) {
  f.bsdf.albedo = {F(1.0f), F(1.0f), F(1.0f)};
  Scattering<F> s = path_scattering(frame, p, f);
  keep_lobes(s, F(0.0f), F(0.0f), F(0.0f));  // no direction is drawn from them
  return s;
}

// What the ground shows of the image of the sky with nothing in the way.
template <class F> RT_HD F whole_sky(const rt::Frame& frame, const Surface<F>& f, const Scattering<F>& s) {
  return scattering_eval(s, f.point.normal).value.x * F(frame.environment.sky_light);
}

// Mean of the samples of light number i, where it is known; else 0.
template <class F>
RT_HD F expected_light(const rt::Frame& frame, int i, const Surface<F>& f, const Scattering<F>& s) {
  if (!samples_sky(frame) || i < frame.scene.light_count || !is_sky(frame, i)) return F(0.0f);
  return whole_sky(frame, f, s);
}

// Whether a camera ray meets the ground that catches shadows.
template <class F> RT_HD MaskOf<F> meets_catcher(const rt::SceneTables& s, const PathState<F>& p) {
  return (gather(s.order, p.prim) + UintOf<F>(1u)) == UintOf<F>((uint32_t)s.frame->environment.shadow_catcher);
}

// The path for samples of light, which count in full: no path goes on from here.
template <class F> RT_HD PathState<F> catching_path(const rt::Frame& frame, PathState<F> p) {
  p.depth = frame.integrator.max_depth;
  return p;
}

// Whether the sky is asked for by one ray with the density of a cosine: where paths are traced, unless its image has a
// bright part. Samples of an even image by its brightness would lie below the ground in half of all cases.
RT_HD bool catches_sky(const rt::Frame& frame) {
  const bool even = frame.sky.sky_even && sky_casts_shadows(frame);
  return traces_paths(frame.integrator) && (even || !samples_sky(frame));
}

// Number of the light samples of the ground, without that ray.
RT_HD int32_t caught_lights(const rt::Frame& frame) {
  const int32_t all = light_samples(frame, frame.integrator.max_depth);
  return samples_sky(frame) && catches_sky(frame) ? all - 1 : all;
}

// What the ground shows of the sky by that ray.
template <class F>
struct CaughtSky {
  Vec3<F> wi;
  MaskOf<F> contributes;
  Vec3<F> radiance;
  F expected;  // mean of all rays, where it is known; else 0
};

template <class F>
RT_HD CaughtSky<F> caught_sky(const rt::SceneTables& scene, const PathState<F>& p, const Surface<F>& f,
                              const Scattering<F>& s) {
  const rt::Frame& frame = *scene.frame;
  const Sample2d<F> u = sample_2d<F>(frame.sampler.seed, p.x, p.y, p.sample, (uint32_t)p.depth, kUseBsdf);
  const Vec3<F> wi = cosine_hemisphere(f.point.normal, u);
  if (samples_sky(frame)) {
    const F cosine = max_(dot(wi, f.point.normal), F(1e-6f));
    const LightSample<F> sample = {wi, F(kInfinity), F(1.0f) / cosine, cosine * F(kInvPi)};
    const LitSample<F> a = shade_sample(frame, sample, sky_light(scene.sky, frame, wi).radiance, true, p, f, s, false);
    return {wi, a.contributes, a.radiance, whole_sky(frame, f, s)};
  }
  const Vec3<F> sky = splat3<F>(frame.environment.ambient) +
                      background(frame.environment, background_height_direction(frame.environment, wi));
  return {wi, splat_mask<F>(true), scattering_ambient(s) * sky, F(0.0f)};
}

// Share of light that is missing.
template <class F> RT_HD F shadow_alpha(const CaughtLight<F>& caught) {
  return select(caught.all > F(0.0f), caught.missing / max_(caught.all, F(1e-20f)), F(0.0f));
}

}  // namespace RT_NS
