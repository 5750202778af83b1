// The `ao` integrator: as `direct`, but the ambient light comes from a sky, and what is in the way of the sky
// keeps it off: ambient occlusion (Zhukov, Iones, Kronin 1998) by rays with the density of a cosine.
#pragma once
#include "direct.h"

namespace RT_NS {

// What the sky sends to a surface along one ray, and on to the film, unless something is in the way.
template <class F>
struct SkySample {
  Vec3<F> wi;
  MaskOf<F> contributes;  // the surface's own primitive is not in the way
  Vec3<F> radiance;
};

// ray: 0 to ao_samples - 1. The rays of all samples of a pixel are one sequence of points.
template <class F> RT_HD SkySample<F> shade_sky(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f,
                                                int32_t ray) {
  const rt::Integrator& integrator = frame.integrator;
  const uint32_t point = p.sample * (uint32_t)integrator.ao_samples + (uint32_t)ray;
  SkySample<F> a;
  a.wi =
      cosine_hemisphere(f.point.normal, sample_2d<F>(frame.sampler.seed, p.x, p.y, point, (uint32_t)p.depth, kUseBsdf));
  a.contributes = !(f.point.inside & (hit_again(f.primitive, f.point, a.wi) < F(integrator.ao_distance)));
  a.radiance = F(1.0f / (float)integrator.ao_samples) * shade_ambient(frame.environment, p, f);
  return a;
}

}  // namespace RT_NS
