// The `ao` integrator: as `direct`, but the ambient light comes from a sky, and what is in the way of the sky
// keeps it off: ambient occlusion (Zhukov, Iones, Kronin 1998) by rays with the density of a cosine.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// occlusion rays per surface, and their length in render space
#define RT_AO(F) F(int32_t, ao_samples, 1) F(float, ao_distance, 1)

#elif !defined(RT_INTEGRATOR_AO_H)
#define RT_INTEGRATOR_AO_H
#include "direct.h"

namespace RT_NS {

// What the sky sends to a surface along one ray, and on to the film, unless something is in the way.
template <class F>
struct SkySample {
  Vec3<F> wi;
  MaskOf<F> contributes;  // the surface's own primitive is not in the way
  Vec3<F> radiance;
};

// A direction to the sky: ray 0 to n - 1 of a sample. The rays of all samples of a pixel are one sequence of points,
// and those of a sample share the turn about the normal out between them: n sectors, of which ray j gets another one
// with each sample. So rays of neighbouring pixels with the same number go similar ways, and meet similar nodes.
template <class F>
RT_HD Vec3<F> sky_direction(const rt::Frame& frame, const PathState<F>& p, Vec3<F> normal, int32_t ray) {
  const uint32_t n = (uint32_t)frame.integrator.ao_samples;
  Sample2d<F> point =
      sample_2d<F>(frame.sampler.seed, p.x, p.y, p.sample * n + (uint32_t)ray, (uint32_t)p.depth, kUseBsdf);
  const uint32_t sector = ((uint32_t)ray + p.sample) % n;
  point.v = (F((float)sector) + point.v) * F(1.0f / (float)n);
  return cosine_hemisphere(normal, point);
}

// What one ray of a surface brings from a sky of which the surface shows `ambient` as a whole.
template <class F> RT_HD Vec3<F> sky_radiance(const rt::Frame& frame, Vec3<F> ambient) {
  return F(1.0f / (float)frame.integrator.ao_samples) * ambient;
}

// ray: 0 to ao_samples - 1; ambient: what the surface shows of the whole sky
template <class F> RT_HD SkySample<F> shade_sky(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f,
                                                Vec3<F> ambient, int32_t ray) {
  const rt::Integrator& integrator = frame.integrator;
  SkySample<F> a;
  a.wi = sky_direction(frame, p, f.point.normal, ray);
  a.contributes = !(f.point.inside & (hit_again(f.primitive, f.point, a.wi) < F(integrator.ao_distance)));
  a.radiance = sky_radiance(frame, ambient);
  return a;
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_AO_H
