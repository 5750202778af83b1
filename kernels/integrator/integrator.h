// What a surface sends back: the one place where radiance is put together. A scheduler (cpu/shade.h,
// cuda/megakernel.cuh) finds the surfaces and the blocked lights, and adds in the order: ambient, then
// the lights by number, then the next bounce.
#pragma once
#include "../geom/large_sphere.h"
#include "../shade/light.h"
#include "../shade/phong.h"

namespace RT_NS {

template <class F>
struct Surface {
  SurfacePoint<F> point;
  F radius;
  Vec3<F> albedo;
  Phong<F> material;
};

// Share of the light that the surface scatters in all directions; the rest is mirrored. The highlight is the
// blurred mirror image of a light, so this does not scale it: chrome keeps its glint.
template <class F> RT_HD F scattered_share(const Surface<F>& f) { return F(1.0f) - f.material.mirror; }

// throughput: of the path up to the surface
template <class F> RT_HD Vec3<F> ambient_radiance(const rt::Frame& frame, const Surface<F>& f, F throughput) {
  return (throughput * scattered_share(f) * f.material.ambient) * (splat3<F>(frame.ambient) * f.albedo);
}

template <class F>
struct LightArrival {
  LightSample<F> sample;
  MaskOf<F> faces;        // the surface faces the light
  MaskOf<F> own_shadow;   // seen from inside, the sphere itself is in the way
  Vec3<F> radiance;       // if nothing else is
};

template <class F>
RT_HD LightArrival<F> light_arrival(const rt::Light& light, const Surface<F>& f, Vec3<F> direction, F throughput) {
  LightArrival<F> a;
  a.sample = light_sample(light, f.point.position);
  F cosine = dot(f.point.normal, a.sample.wi);
  a.faces = cosine > F(0.0f);
  a.own_shadow = f.point.inside & (inner_chord(f.radius, cosine) < a.sample.distance);
  PhongTerms<F> terms = phong_eval(f.material, f.point.normal, F(-1.0f) * direction, a.sample.wi, cosine);
  Vec3<F> reflected = fma3(scattered_share(f) * terms.diffuse, f.albedo, vec3(terms.specular, terms.specular, terms.specular));
  a.radiance = (throughput * a.sample.attenuation) * (splat3<F>(light.color) * reflected);
  return a;
}

template <class F>
struct MirrorRay {
  Vec3<F> origin, direction;
  F own_t;  // where a ray that stays inside meets its own sphere again
};

template <class F> RT_HD MirrorRay<F> mirror_ray(const Surface<F>& f, Vec3<F> direction) {
  Vec3<F> m = reflect(direction, f.point.normal);
  return {f.point.position, m, inner_chord(f.radius, dot(m, f.point.normal))};
}

}  // namespace RT_NS
