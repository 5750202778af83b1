// The `principled` material: a clear coat over a mixture of metal, of a dielectric over a diffuse base, and of glass,
// all with GGX microfacets. Parameters have the names and meanings of glTF and of Blender.
//
// Energy: light that leaves a rough metal or dielectric after more than one bounce is added as a diffuse lobe (Kulla,
// Conty 2017), and the base gets what the layer above does not reflect, on the way in and out (Kelemen, Szirmay-Kalos
// 2001). What one bounce reflects below the coat counts by the lesser of what the coat lets in and out, as is right for
// a mirror. What the coat sends back to the layer joins the lobe of more bounces, and the base gets what coat and layer
// do not reflect: so all that a white surface does not reflect at once leaves it later. Light that bounces between the
// microfacets of rough glass leaves it on both sides, see principled_shading; from inside glass, the coat reflects back
// what it does not let out.
//
// All of it is reciprocal, light through glass with the factor of the squares of the indices.
//
// Values are pi times the BSDF times the cosine to wi: with light of unit colour, the reflected radiance. Directions
// are in the frame of the surface: o towards the viewer, o.z > 0; i towards the light, i.z < 0 beyond the surface.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

#define RT_FIELDS_PrincipledParameters(F)                                                                          \
  F(float, roughness, 1) F(float, metallic, 1) F(float, ior, 1) F(float, specular, 1)             \
  F(float, coat, 1) F(float, transmission, 1) F(float, emission, 1)                               \
  F(float, attenuation_distance, 1)            /* render space; 0: the surface colours light, not the inside */ \
  F(float, priority, 1) F(float, pad, 2)       /* of glass that overlaps other glass */

#elif !defined(RT_SHADE_PRINCIPLED_H)
#define RT_SHADE_PRINCIPLED_H
#include "../core/structs.h"
#include "ggx.h"

namespace RT_NS {

template <class F>
struct Principled {
  F roughness, metallic, ior, specular, coat, transmission, emission, attenuation_distance;
};

// material `id` of a table
template <class F> RT_HD Principled<F> load_principled(const rt::Material* table, UintOf<F> id) {
  const float* m = table->parameters;
  const UintOf<F> at = id * UintOf<F>((uint32_t)(sizeof(rt::Material) / sizeof(float)));
  return {lookup(m, at),     lookup(m + 1, at), lookup(m + 2, at), lookup(m + 3, at),
          lookup(m + 4, at), lookup(m + 5, at), lookup(m + 6, at), lookup(m + 7, at)};
}

// The coat is a smooth varnish of index 1.5.
constexpr float kCoatAlpha = 0.0025f;
constexpr float kCoatReflectance = 0.04f;

template <class F> RT_HD F coat_albedo(F coat, F cosine) {
  return coat * fma_(F(1.0f - kCoatReflectance), pow5(F(1.0f) - min_(abs_(cosine), F(1.0f))), F(kCoatReflectance));
}

// Mean of (1 - cosine)^5 with the density of a cosine.
constexpr float kMeanGrazing = 1.0f / 21.0f;
constexpr float kMeanCoat = kCoatReflectance + (1.0f - kCoatReflectance) * kMeanGrazing;  // share that it reflects

// Share of light that one bounce of GGX below a coat reflects through it. through: the coat's share for the viewer
template <class F> RT_HD GgxAlbedo<F> coated_albedo(F coat, F through, F roughness, F cosine) {
  const GgxAlbedo<F> once = albedo_entry(kGgxAlbedo, roughness, cosine);
  if (!any(coat > F(0.0f))) return once;
  const GgxAlbedo<F> taken = albedo_entry(kGgxCoated, roughness, cosine);
  const F beyond = F(kCoatReflectance - 1.0f) * coat;
  return {fma_(beyond, taken.all, through * once.all), fma_(beyond, taken.grazing, through * once.grazing)};
}

// its mean over viewers with the density of a cosine
template <class F> RT_HD GgxAlbedo<F> coated_average_albedo(F coat, F roughness) {
  const GgxAlbedo<F> once = average_entry(kGgxAverageAlbedo, roughness);
  if (!any(coat > F(0.0f))) return once;
  const GgxAlbedo<F> taken = average_entry(kGgxAverageCoated, roughness);
  const GgxAlbedo<F> viewer = average_entry(kGgxAverageGrazing, roughness);
  const F beyond = F(kCoatReflectance - 1.0f) * coat, along = fma_(F(0.0f) - coat, F(kCoatReflectance), F(1.0f));
  return {fma_(beyond, taken.all + viewer.all, along * once.all),
          fma_(beyond, taken.grazing + viewer.grazing, along * once.grazing)};
}

// The Fresnel factor of a layer at cosine c: f0 + (f90 - f0)(1 - c)^5.
template <class F>
struct Reflectance {
  Vec3<F> f0;
  F f90;
};

// What does not depend on wi.
template <class F>
struct PrincipledShading {
  F alpha, ior;
  F coat, coat_beyond;  // share of the coat on the viewer's side and beyond the surface: it is on the outside
  F through;       // part of the light that it lets through on the viewer's side
  F glass;         // share of glass
  MaskOf<F> smooth;  // glass without roughness: its directions are certain
  F eta;           // of glass: index beyond the surface by that of the viewer's side
  Vec3<F> tint;    // of light through glass, each time it crosses a surface
  Reflectance<F> layer;  // of metal and dielectric, each times its share
  F roughness, lost_o,
      lost_average;  // light below the coat that one bounce does not return, to the viewer and on average
  Vec3<F> multiple;  // factor of the lobe of more bounces
  Vec3<F> diffuse;   // factor of the diffuse base
  F dielectric_f0, dielectric_f90, dielectric_multiple;  // what the layer over the base reflects
  F average;       // share of light that gets to the base
  F spread2, per_log;  // of the samples of the lobe of more bounces, see multiple_pdf
  F glass_lost;      // share of light that rough glass does not scatter at once
  F glass_multiple;  // factor of its lobe of more bounces
  F same_side;       // share of that lobe which stays on the viewer's side
  F p_coat, p_layer, p_diffuse, p_multiple, p_glass_multiple, p_glass;  // probabilities of the lobes
};

template <class F> RT_HD F largest(Vec3<F> v) { return max_(v.x, max_(v.y, v.z)); }

// Part of the light lost after one bounce that further bounces return, by the mean Fresnel factor (Kulla, Conty).
template <class F> RT_HD F multiple_bounces(F mean, F average) {
  return average * mean * mean / (F(1.0f) - mean * (F(1.0f) - average));
}

// Share of light that coat and dielectric do not reflect. through: the coat's share, a: the albedo below it, for a
// direction or on average.
template <class F> RT_HD F base_share(const PrincipledShading<F>& s, F through, const GgxAlbedo<F>& a) {
  return through - fma_(through - a.all, s.dielectric_multiple, a.with(s.dielectric_f0, s.dielectric_f90));
}

// The light of more bounces comes from directions in which one bounce loses light. Where the surface is almost smooth
// these are close to the horizon, cosine^2 near alpha^2, and a cosine distribution would hardly find them. Samples are
// drawn with 1 / (cosine^2 + alpha^2) over cosine^2: pi times the density per solid angle.
template <class F> RT_HD F multiple_pdf(const PrincipledShading<F>& s, F cosine) {
  return cosine * s.per_log / fma_(cosine, cosine, s.spread2);
}

// cosine^2 of such a sample; u: in [0, 1)
template <class F> RT_HD F multiple_sample(const PrincipledShading<F>& s, F u) {
  const F power = exp2_(u * F(1.44269504f) / s.per_log);
  return min_(s.spread2 * (power - F(1.0f)), F(1.0f));
}

// Share of light that rough glass does not scatter at once, below the coat of its outside. through: the coat's share for
// the direction at that cosine, eta: as in fresnel_dielectric for that direction
template <class F> RT_HD F glass_lost(F coat, F through, F roughness, F eta, F cosine) {
  const F lost = glass_entry(kGgxGlassLost, roughness, eta, cosine);
  if (!any(coat > F(0.0f))) return lost;
  const F changed = coat * glass_entry(kGgxGlassCoated, roughness, eta, cosine);
  return max_(fma_(through, lost, changed), F(0.0f));
}

// its mean over directions with the density of a cosine
template <class F> RT_HD F glass_lost_mean(F coat, F roughness, F eta) {
  const F lost = glass_mean_entry(kGgxGlassLostMean, roughness, eta);
  if (!any(coat > F(0.0f))) return lost;
  return max_(fma_(coat, glass_mean_entry(kGgxGlassCoatedMean, roughness, eta), lost), F(0.0f));
}

// Share of light that a facet of glass reflects. From inside, the coat sends back a part of what the facet lets through:
// here as if it lay on the facet, so that light and viewer can be exchanged.
template <class F>
struct GlassFacet {
  F reflected;  // back to the viewer's side
  F passed;     // by the facet
  F chosen;     // probability of a reflection
};

template <class F> RT_HD GlassFacet<F> glass_facet(const PrincipledShading<F>& s, const Fresnel<F>& f) {
  const F passed = F(1.0f) - f.reflected, back = coat_albedo(s.coat_beyond, f.cos_t);
  // most of what passes is sampled, lest directions in which the coat lets more out than here weigh much
  const F sampled = select(s.smooth, back, min_(back, F(0.5f)));
  return {fma_(passed, back, f.reflected), passed, fma_(passed, sampled, f.reflected)};
}

// Index of refraction beyond the surface of a solid in air by that of the viewer's side.
template <class F> RT_HD F relative_index(const Principled<F>& m, MaskOf<F> inside) {
  return select(inside, F(1.0f) / m.ior, m.ior);
}

template <class F>
RT_HD PrincipledShading<F> principled_shading(const Principled<F>& m, Vec3<F> albedo, F cos_o, MaskOf<F> inside,
                                              F eta) {
  PrincipledShading<F> s;
  const F one(1.0f), zero(0.0f);
  s.roughness = m.roughness;
  s.alpha = max_(m.roughness * m.roughness, F(kLeastAlpha));
  s.coat = select(inside, zero, m.coat), s.coat_beyond = m.coat - s.coat;
  const F coat_o = coat_albedo(s.coat, cos_o);
  s.through = one - coat_o;
  s.glass = (one - m.metallic) * m.transmission;
  s.eta = eta;
  s.smooth = (m.roughness * m.roughness <= F(kLeastAlpha)) | (max_(s.eta, one / s.eta) < F(kLeastIndex));
  const MaskOf<F> absorbs = m.attenuation_distance > zero;
  const Vec3<F> white = {one, one, one};
  s.tint = select3(absorbs, white, Vec3<F>{sqrt_(albedo.x), sqrt_(albedo.y), sqrt_(albedo.z)});

  const F solid = (one - m.metallic) * (one - m.transmission);  // share of the dielectric over a diffuse base
  const F root = (m.ior - one) / (m.ior + one);
  s.dielectric_f0 = min_(root * root * m.specular, one), s.dielectric_f90 = min_(m.specular, one);
  const F f0 = solid * s.dielectric_f0;
  s.layer = {{fma_(m.metallic, albedo.x, f0), fma_(m.metallic, albedo.y, f0), fma_(m.metallic, albedo.z, f0)},
             fma_(solid, s.dielectric_f90, m.metallic)};
  const GgxAlbedo<F> once = coated_albedo(s.coat, s.through, m.roughness, cos_o);
  const GgxAlbedo<F> average = coated_average_albedo(s.coat, m.roughness);
  const F through = fma_(F(-kMeanCoat), s.coat, one);  // on average
  s.lost_o = s.through - once.all, s.lost_average = max_(through - average.all, F(1e-6f));

  const F grazing(kMeanGrazing), returned = average.all / through;
  s.dielectric_multiple =
      multiple_bounces(fma_(grazing, s.dielectric_f90 - s.dielectric_f0, s.dielectric_f0), returned);
  const Vec3<F> mean = fma3(grazing, white - albedo, albedo);
  const F again = solid * s.dielectric_multiple;
  s.multiple = {fma_(m.metallic, multiple_bounces(mean.x, returned), again),
                fma_(m.metallic, multiple_bounces(mean.y, returned), again),
                fma_(m.metallic, multiple_bounces(mean.z, returned), again)};

  s.spread2 = s.alpha * s.alpha;
  s.per_log = F(1.44269504f) / log2_(one + one / s.spread2);

  const F base_o = base_share(s, s.through, once);
  s.average = base_share(s, through, average);
  s.diffuse = (solid * base_o / max_(s.average, F(1e-6f))) * albedo;

  // Light that bounces between the facets of rough glass (Kulla, Conty 2017, for both sides): it leaves to a side in
  // proportion to the light of one bounce that this side loses, times the square of its index. So all of it leaves, and
  // light and viewer can be exchanged: the value is glass_multiple cos_i times what is lost at cos_i, on either side.
  s.glass_lost = zero, s.glass_multiple = zero, s.same_side = one;
  const MaskOf<F> rough = (s.glass > zero) & !s.smooth;
  if (any(rough)) {
    const F here = glass_lost_mean(m.coat, m.roughness, s.eta);
    const F beyond = glass_lost_mean(m.coat, m.roughness, one / s.eta);
    const F both = max_(fma_(s.eta * s.eta, beyond, here), F(1e-6f));
    s.glass_lost = select(rough, glass_lost(m.coat, s.through, m.roughness, s.eta, cos_o), zero);
    s.glass_multiple = s.glass * s.glass_lost / both;
    s.same_side = here / both;
  }

  const Vec3<F> layer_o = {once.with(s.layer.f0.x, s.layer.f90), once.with(s.layer.f0.y, s.layer.f90),
                           once.with(s.layer.f0.z, s.layer.f90)};
  s.p_coat = coat_o;
  s.p_layer = largest(layer_o);
  s.p_diffuse = solid * base_o * largest(albedo);
  s.p_multiple = largest(s.multiple) * s.lost_o;
  s.p_glass_multiple = s.glass * s.glass_lost;
  s.p_glass = s.through * s.glass - s.p_glass_multiple;
  const F sum = s.p_coat + s.p_layer + s.p_diffuse + s.p_multiple + s.p_glass_multiple + s.p_glass;
  const F scale = by_density(one, sum);
  s.p_coat = s.p_coat * scale, s.p_layer = s.p_layer * scale;
  s.p_diffuse = s.p_diffuse * scale, s.p_multiple = s.p_multiple * scale, s.p_glass = s.p_glass * scale;
  s.p_glass_multiple = s.p_glass_multiple * scale;
  return s;
}

// Share of light that is left after a length inside of glass: its colour after the attenuation distance (Beer, Lambert;
// as glTF's KHR_materials_volume).
template <class F> RT_HD Vec3<F> glass_transmittance(const Principled<F>& m, Vec3<F> albedo, F length) {
  const F lengths = length / m.attenuation_distance, least(1e-12f);
  return {pow_(max_(albedo.x, least), lengths), pow_(max_(albedo.y, least), lengths),
          pow_(max_(albedo.z, least), lengths)};
}

template <class F>
struct BsdfValue {
  Vec3<F> value;
  F pdf;  // of sampling that direction, per solid angle
};

// Metal, dielectric, diffuse base and coat, for i.z > 0.
template <class F>
RT_HD BsdfValue<F> principled_reflection(const PrincipledShading<F>& s, Vec3<F> o, Vec3<F> i) {
  const F one(1.0f);
  const Vec3<F> m = normalize(o + i);
  const F cosine = min_(max_(dot(o, m), F(0.0f)), one), grazing = pow5(one - cosine);
  const F cos_i = max_(i.z, F(0.0f));
  const F shape = F(0.5f) * cos_i * ggx_density(s.alpha, m) * ggx_visible_both(s.alpha, o.z, cos_i);
  const F through = one - coat_albedo(s.coat, cos_i);
  const GgxAlbedo<F> once = coated_albedo(s.coat, through, s.roughness, cos_i);
  const F again = cos_i * s.lost_o * (through - once.all) / s.lost_average;
  const F base = cos_i * base_share(s, through, once);
  const Vec3<F> f90 = {s.layer.f90, s.layer.f90, s.layer.f90};
  const Vec3<F> value = (min_(s.through, through) * shape) * fma3(grazing, f90 - s.layer.f0, s.layer.f0) +
                        again * s.multiple + base * s.diffuse;
  const F coat = s.coat * fma_(F(1.0f - kCoatReflectance), grazing, F(kCoatReflectance)) *
                 (F(0.5f) * cos_i * ggx_density(F(kCoatAlpha), m) * ggx_visible_both(F(kCoatAlpha), o.z, cos_i));
  const F quarter(0.25f / kPi);
  const F wide = fma_(s.p_diffuse, cos_i, s.p_multiple * multiple_pdf(s, cos_i)) * F(1.0f / kPi);
  const F pdf =
      fma_(s.p_layer * quarter, ggx_pdf(s.alpha, o, m), fma_(s.p_coat * quarter, ggx_pdf(F(kCoatAlpha), o, m), wide));
  return {value + Vec3<F>{coat, coat, coat}, pdf};
}

// Glass (Walter et al. 2007), on either side.
template <class F> RT_HD BsdfValue<F> principled_glass(const PrincipledShading<F>& s, Vec3<F> o, Vec3<F> i) {
  const F one(1.0f);
  const MaskOf<F> reflects = i.z > F(0.0f);
  const F eta = select(reflects, one, s.eta);
  Vec3<F> m = normalize(fma3(eta, i, o));
  m = select(m.z < F(0.0f), F(-1.0f), one) * m;
  const F o_dot_m = dot(o, m), i_dot_m = dot(i, m);
  const MaskOf<F> valid =
      (o_dot_m > F(0.0f)) & ((reflects & (i_dot_m > F(0.0f))) | ((!reflects) & (i_dot_m < F(0.0f))));
  const GlassFacet<F> facet = glass_facet(s, fresnel_dielectric(max_(o_dot_m, F(0.0f)), s.eta));
  const F cos_i = abs_(i.z);
  // light that passes spreads over another solid angle: the factor between those of normal and direction, times the
  // cosine to the normal. bend: the length of o + eta i, which is not below |eta - 1|
  const F bend = fma_(s.eta, i_dot_m, o_dot_m);
  const F spread = select(reflects, F(0.25f), s.eta * s.eta * abs_(i_dot_m) * o_dot_m / (bend * bend));
  const F share = select(reflects, facet.reflected, facet.passed) * spread;
  const F chosen = select(reflects, facet.chosen, one - facet.chosen) * spread;
  const F shape = share * (F(2.0f) * cos_i) * ggx_density(s.alpha, m) * ggx_visible_both(s.alpha, o.z, cos_i);
  const F by_eta2 = select(reflects, one, one / (s.eta * s.eta));  // radiance is less where the index is, by its square
  const Vec3<F> color = select3(reflects, Vec3<F>{one, one, one}, s.tint);
  const F through = one - coat_albedo(select(reflects, s.coat, s.coat_beyond), cos_i);
  // light that crosses the surface crosses the coat once, on the outside
  const F cover = select(reflects, min_(s.through, through), s.through * through);
  const F once = select(valid, by_eta2 * s.glass * shape, F(0.0f));
  const F again = s.glass_multiple * cos_i *
                  glass_lost(s.coat + s.coat_beyond, through, s.roughness, select(reflects, s.eta, one / s.eta), cos_i);
  const F wide = s.p_glass_multiple * select(reflects, s.same_side, one - s.same_side) * multiple_pdf(s, cos_i);
  const F pdf = select(valid, s.p_glass * chosen * ggx_pdf(s.alpha, o, m), F(0.0f)) + wide;
  return {fma_(cover, once, again) * color, pdf * F(1.0f / kPi)};
}

// Smooth glass has no value: no direction but that of its sample is one of its.
template <class F> RT_HD BsdfValue<F> principled_eval(const PrincipledShading<F>& s, Vec3<F> o, Vec3<F> i) {
  const MaskOf<F> faces = i.z > F(0.0f);
  const F one(1.0f), zero(0.0f);
  const Vec3<F> none = {zero, zero, zero};
  BsdfValue<F> sum = {none, zero};
  if (any(faces)) {
    const BsdfValue<F> b = principled_reflection(s, o, i);
    sum = {select3(faces, b.value, none), select(faces, one, zero) * select(faces, b.pdf, zero)};
  }
  const MaskOf<F> rough = (s.glass > zero) & !s.smooth;
  if (any(rough)) {
    const BsdfValue<F> g = principled_glass(s, o, i);
    sum.value = sum.value + select3(rough, g.value, none);
    sum.pdf = sum.pdf + select(rough, g.pdf, zero);
  }
  return sum;
}

// Share of ambient light that is reflected, where none of it is traced.
template <class F> RT_HD Vec3<F> principled_albedo(const PrincipledShading<F>& s) {
  const Vec3<F> layer = (s.through - s.lost_o) * s.layer.f0 + s.lost_o * s.multiple;
  return layer + s.average * s.diffuse + (s.through * s.glass) * s.tint;
}

template <class F>
struct PrincipledSample {
  Vec3<F> i;
  Vec3<F> weight;  // value by density
  F pdf;  // 0: the direction was certain
};

// u: a point of the unit square, lobe: a number in [0, 1) that chooses the lobe
template <class F>
RT_HD PrincipledSample<F> principled_sample(const PrincipledShading<F>& s, Vec3<F> o, Sample2d<F> u, F lobe) {
  const F one(1.0f), zero(0.0f);
  const F after_coat = s.p_coat, after_layer = after_coat + s.p_layer, after_diffuse = after_layer + s.p_diffuse;
  const F after_multiple = after_diffuse + s.p_multiple, after_wide = after_multiple + s.p_glass_multiple;
  const MaskOf<F> coat = lobe < after_coat, layer = (!coat) & (lobe < after_layer);
  const MaskOf<F> wide = (!coat) & (!layer) & (lobe < after_wide), glass = (!coat) & (!layer) & (!wide);
  const F alpha = select(coat, F(kCoatAlpha), s.alpha);
  Vec3<F> m = ggx_sample(alpha, o, u);
  const MaskOf<F> certain = glass & s.smooth;
  m = {select(certain, zero, m.x), select(certain, zero, m.y), select(certain, one, m.z)};
  const F cosine = max_(dot(o, m), zero);
  Vec3<F> i = fma3(cosine + cosine, m, F(-1.0f) * o);

  // Which side of the glass: the rest of the number that chose the lobe.
  const Fresnel<F> f = fresnel_dielectric(cosine, s.eta);
  const F rest = by_density(lobe - after_wide, s.p_glass);
  const F rest_wide = by_density(lobe - after_multiple, s.p_glass_multiple);
  const MaskOf<F> refracts = glass & !(rest < glass_facet(s, f).chosen);
  const MaskOf<F> leaves = wide & !(lobe < after_multiple) & !(rest_wide < s.same_side), passes = refracts | leaves;
  const F inverse = one / s.eta;
  const Vec3<F> refracted = fma3(F(0.0f) - inverse, o, fma_(cosine, inverse, F(0.0f) - f.cos_t) * m);
  i = {select(refracts, refracted.x, i.x), select(refracts, refracted.y, i.y), select(refracts, refracted.z, i.z)};
  const F cosine2 = select(lobe < after_diffuse, one - u.u, multiple_sample(s, u.u));
  const F root = sqrt_(max_(one - cosine2, zero));
  const SinCos<F> phi = sincos_turns(u.v);
  const F up = sqrt_(cosine2);
  i = {select(wide, root * phi.cos, i.x), select(wide, root * phi.sin, i.y),
       select(wide, select(leaves, zero - up, up), i.z)};
  i = normalize(i);

  const BsdfValue<F> b = principled_eval(s, o, i);
  // A direction on the wrong side of the surface carries nothing.
  const MaskOf<F> valid = select(passes, F(0.0f) - i.z, i.z) > zero;
  const F scale = select(valid, by_density(F(1.0f / kPi), b.pdf), zero);
  const F sure = select(valid, by_density(s.through * s.glass, s.p_glass), zero);  // the coat's share is chosen
  const F by_eta2 = inverse * inverse;
  PrincipledSample<F> a;
  a.i = i;
  a.weight = {select(certain, sure * select(passes, by_eta2 * s.tint.x, one), scale * b.value.x),
              select(certain, sure * select(passes, by_eta2 * s.tint.y, one), scale * b.value.y),
              select(certain, sure * select(passes, by_eta2 * s.tint.z, one), scale * b.value.z)};
  a.pdf = select(certain, zero, b.pdf);
  return a;
}

}  // namespace RT_NS

#endif  // RT_SHADE_PRINCIPLED_H
