// How a surface scatters light, by the kind of its material: evaluated for a direction to a light, and sampled for
// the direction in which a path goes on. A kind adds its parameters to Bsdf
// and a case to each function. wi: towards the light, wo: towards the viewer, normal: towards the viewer; all
// unit. Values are pi times the BSDF times the cosine: with light of unit colour, the reflected radiance.
#if defined(RT_FIELD_LISTS)  // of core/structs.h
#include "phong.h"
#include "principled.h"

// by the words of MaterialKind
#define RT_MATERIAL_PARAMETERS(F) F(PhongParameters, phong, 1) F(PrincipledParameters, principled, 1)
#define RT_MATERIAL_STRUCTS(S) S(PhongParameters) S(PrincipledParameters)

#elif !defined(RT_SHADE_BSDF_H)
#define RT_SHADE_BSDF_H
#include "../core/enums.h"
#include "phong.h"
#if RT_FULL_SHADING
#include "principled.h"
#endif

// What a kernel is compiled for, as integrator/features.h.
#if !defined(RT_ALL_MATERIALS)  // materials other than Phong's
#define RT_ALL_MATERIALS 1
#endif
#if !defined(RT_MIRRORS)  // Phong's materials that reflect
#define RT_MIRRORS 1
#endif

#define RT_WORDS_MaterialKind(E) E(kMaterialPhong, "phong") E(kMaterialPrincipled, "principled")

namespace RT_NS {

RT_ENUM(MaterialKind)

template <class F>
struct Bsdf {
  Vec3<F> albedo;
  Phong<F> phong;  // kMaterialPhong
#if RT_FULL_SHADING
  Principled<F> principled;  // kMaterialPrincipled
  MaskOf<F> is_principled;
#endif
};

#if RT_FULL_SHADING

// material `id` of a table
template <class F> RT_HD Bsdf<F> load_bsdf(const rt::Material* table, UintOf<F> id, Vec3<F> albedo) {
  const UintOf<F> at = id * UintOf<F>((uint32_t)(sizeof(rt::Material) / sizeof(float)));
  const F kind = lookup(table->parameters + rt::kMaterialFloats, at);
  return {albedo, load_phong<F>(table, id), load_principled<F>(table, id),
          RT_ALL_MATERIALS ? as_uint(kind) == UintOf<F>((uint32_t)kMaterialPrincipled) : splat_mask<F>(false)};
}

// the only material of a scene
template <class F> RT_HD Bsdf<F> load_bsdf(const rt::Material* material, Vec3<F> albedo) {
  return load_bsdf<F>(material, UintOf<F>(0u), albedo);
}

// Does light pass the surface?
template <class F> RT_HD MaskOf<F> is_glass(const Bsdf<F>& b) {
  return b.is_principled & ((F(1.0f) - b.principled.metallic) * b.principled.transmission > F(0.0f));
}

#else

template <class F> RT_HD Bsdf<F> load_bsdf(const rt::Material* material, Vec3<F> albedo) {
  return {albedo, load_phong<F>(material)};
}

template <class F> RT_HD Bsdf<F> load_bsdf(const rt::Material* table, UintOf<F> id, Vec3<F> albedo) {
  return {albedo, load_phong<F>(table, id)};
}

#endif

// reflected radiance for ambient light, which comes from everywhere alike, times `weight`
template <class F> RT_HD Vec3<F> bsdf_ambient(const Bsdf<F>& b, Vec3<F> light, Vec3<F> weight) {
  return (b.phong.ambient * (scattered_share(b.phong) * weight)) * (light * b.albedo);
}

// reflected radiance for light of unit colour from wi, the cosine included
template <class F> RT_HD Vec3<F> bsdf_eval(const Bsdf<F>& b, Vec3<F> normal, Vec3<F> wo, Vec3<F> wi, F n_dot_wi) {
  PhongValue<F> terms = phong_eval(b.phong, normal, wo, wi, n_dot_wi);
  return fma3(scattered_share(b.phong) * terms.diffuse, b.albedo, vec3(terms.specular, terms.specular, terms.specular));
}

template <class F>
struct BsdfSample {
  Vec3<F> wi;
  Vec3<F> weight;  // value times cosine by probability
};

// The mirror is the only direction in which a path goes on: it has no density. ray: direction in which it arrived
template <class F> RT_HD BsdfSample<F> bsdf_sample(const Bsdf<F>& b, Vec3<F> normal, Vec3<F> ray) {
  return {reflect(ray, normal), b.phong.mirror * b.phong.mirror_color};
}

}  // namespace RT_NS

#endif  // RT_SHADE_BSDF_H
