// Phong's reflection model (Phong 1975): diffuse and specular terms for one light.
// wi: towards the light, wo: towards the viewer, normal: towards the viewer; all unit.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

#define RT_FIELDS_PhongParameters(F)                                                                               \
  F(float, ambient, 1) F(float, diffuse, 1) F(float, specular, 1) F(float, shininess, 1)          \
  F(float, mirror, 1) F(float, mirror_color, 3)  /* linear RGB */

#elif !defined(RT_SHADE_PHONG_H)
#define RT_SHADE_PHONG_H
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

// one material for all lanes, or one gathered per lane
template <class F>
struct Phong {
  F ambient, diffuse, specular, shininess, mirror;
  Vec3<F> mirror_color;  // of use where there is a mirror
};

// one material for all
template <class F> RT_HD Phong<F> load_phong(const rt::Material* m) {
  const rt::PhongParameters& p = m->phong;
  return {F(p.ambient), F(p.diffuse), F(p.specular), F(p.shininess), F(p.mirror), splat3<F>(p.mirror_color)};
}

// material `id` of a table
template <class F> RT_HD Phong<F> load_phong(const rt::Material* table, UintOf<F> id) {
  const float* m = table->parameters;
  const UintOf<F> at = id * UintOf<F>((uint32_t)(sizeof(rt::Material) / sizeof(float)));
  Phong<F> p = {lookup(m, at), lookup(m + 1, at), lookup(m + 2, at), lookup(m + 3, at), lookup(m + 4, at), {}};
  if (any(p.mirror > F(0.0f))) p.mirror_color = {lookup(m + 5, at), lookup(m + 6, at), lookup(m + 7, at)};
  return p;
}

// Share of the light that the surface scatters in all directions; the rest is mirrored. The highlight is the
// blurred mirror image of a light, so this does not scale it: chrome keeps its glint.
template <class F> RT_HD F scattered_share(const Phong<F>& m) { return F(1.0f) - m.mirror; }

// reflected radiance for unit light colour, as (factor on albedo, factor on white)
template <class F>
struct PhongValue {
  F diffuse, specular;
};

template <class F> RT_HD PhongValue<F> phong_eval(const Phong<F>& m, Vec3<F> normal, Vec3<F> wo, Vec3<F> wi,
                                                  F n_dot_wi) {
  PhongValue<F> terms = {m.diffuse * n_dot_wi, F(0.0f)};
  if (any(m.specular > F(0.0f))) {
    // reflection of wi about the normal, against wo
    F r_dot_wo = fma_(n_dot_wi + n_dot_wi, dot(normal, wo), F(0.0f) - dot(wi, wo));
    F lobe = m.specular * pow_(min_(max_(r_dot_wo, F(0.0f)), F(1.0f)), m.shininess);
    terms.specular = select(m.specular > F(0.0f), lobe, F(0.0f));
  }
  return terms;
}

// mirror direction of a ray along `direction`
template <class F> RT_HD Vec3<F> reflect(Vec3<F> direction, Vec3<F> normal) {
  F k = dot(direction, normal);
  return normalize(fma3(F(-2.0f) * k, normal, direction));
}

}  // namespace RT_NS

#endif  // RT_SHADE_PHONG_H
