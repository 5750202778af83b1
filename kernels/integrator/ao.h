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

// A direction to the sky with the density of a cosine, for ray 0 to n - 1 of a sample: the normal plus a point of the
// unit sphere, whose places do not depend on the normal. So points that are even on the sphere stay even in the mean
// over a pixel in which the normal turns. Ray j has points of its own, on the sector j of n about the y axis: rays of
// neighbouring pixels with the same number go similar ways, and meet similar nodes.
template <class F>
RT_HD Vec3<F> sky_direction(const rt::Frame& frame, const PathState<F>& p, Vec3<F> normal, int32_t ray) {
  const Sample2d<F> point =
      sample_2d<F>(frame.sampler.seed, p.x, p.y, p.sample, (uint32_t)p.depth, kUseBsdf, (uint32_t)ray);
  const SinCos<F> phi = sincos_turns((F((float)ray) + point.v) * F(1.0f / (float)frame.integrator.ao_samples));
  const F radius = F(2.0f) * sqrt_(max_(point.u - point.u * point.u, F(0.0f)));
  const Vec3<F> sum = normal + Vec3<F>{radius * phi.cos, fma_(F(-2.0f), point.u, F(1.0f)), radius * phi.sin};
  const F square = dot(sum, sum);
  return select3(square > F(1e-6f), F(1.0f) / sqrt_(max_(square, F(1e-6f))) * sum, normal);
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
