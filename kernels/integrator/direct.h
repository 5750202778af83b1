// The `direct` integrator: ambient light and direct light at each surface, and mirrors (Whitted 1980). A
// scheduler adds in this order: ambient, then the lights by number, then what the mirror shows.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// transparent_shadows: whether rays to lights pass straight through glass
#define RT_DIRECT(F) F(int32_t, shadows, 1) F(int32_t, transparent_shadows, 1)

#elif !defined(RT_INTEGRATOR_DIRECT_H)
#define RT_INTEGRATOR_DIRECT_H
#include "../shade/light.h"
#include "path.h"

namespace RT_NS {

// What a light sends to a surface and on to the film, unless something is in the way.
template <class F>
struct DirectLightSample {
  Vec3<F> origin;  // of the ray to the light
  LightSample<F> sample;
  MaskOf<F> contributes;  // the surface faces the light and, if there are shadows, its own primitive is not in the way
  Vec3<F> radiance;
};

template <class F>
RT_HD DirectLightSample<F> shade_light(const rt::Integrator& integrator, const rt::Light& light, const PathState<F>& p,
                                       const Surface<F>& f) {
  DirectLightSample<F> a;
  a.origin = f.point.position;
  a.sample = light_sample(light, f.point.position);
  F cosine = dot(f.point.normal, a.sample.wi);
  a.contributes = cosine > F(0.0f);
  // from inside, the primitive itself is in the way
  if (integrator.shadows)
    a.contributes =
        a.contributes & !(f.point.inside & (hit_again(f.primitive, f.point, a.sample.wi) < a.sample.distance));
  Vec3<F> reflected = bsdf_eval(f.bsdf, f.point.normal, F(-1.0f) * p.ray.direction, a.sample.wi, cosine);
  a.radiance = (a.sample.attenuation * p.throughput) * (splat3<F>(light.color) * reflected);
  return a;
}

// Which paths go on from their surfaces where no paths are traced: along mirrors.
template <class F> RT_HD MaskOf<F> path_continues(const rt::Integrator& integrator, const PathState<F>& p,
                                                  const Surface<F>& f) {
  return (f.bsdf.phong.mirror > F(0.0f)) & splat_mask<F>(RT_MIRRORS && p.depth < integrator.max_depth);
}

template <class F>
RT_HD PathStep<F> mirror_step(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  const BsdfSample<F> b = bsdf_sample(f.bsdf, f.point.normal, p.ray.direction);
  return path_step(frame, p, f, b.wi, b.weight);
}

#if !RT_FULL_SHADING  // what surface_step.h asks for; path_tracing.h has it for all materials and lights

template <class F> RT_HD Vec3<F> shade_miss(const rt::SceneTables& scene, const PathState<F>& p) {
  return shade_background(*scene.frame, p);
}

template <class F> RT_HD F camera_coverage(const rt::Frame&, const PathState<F>& p) { return path_coverage(p); }

template <class F> RT_HD Vec3<F> shade_ambient(const rt::Frame& frame, const PathState<F>& p, const Bsdf<F>& bsdf) {
  return bsdf_ambient(bsdf, splat3<F>(frame.environment.ambient), p.throughput);
}

RT_HD int32_t light_samples(const rt::Frame& frame) { return light_count(frame); }

RT_HD bool casts_shadows(const rt::SceneTables& scene, int32_t) { return scene.frame->integrator.shadows; }

template <class F>
RT_HD DirectLightSample<F> shade_light(const rt::SceneTables& scene, int32_t number, const PathState<F>& p,
                                       const Surface<F>& f, const Bsdf<F>&) {
  return shade_light(scene.frame->integrator, scene.lights[number], p, f);
}

#endif

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_DIRECT_H
