// What a surface of any material does with light: the interface of materials for path tracing, and for direct light
// in scenes with other materials than Phong's.
//
// Phong's reflection model under a path: the highlight shows lights alone, as it always did, and so it is not
// sampled; paths go on from the diffuse part and from the mirror.
#pragma once
#include "bsdf.h"

namespace RT_NS {

template <class F>
struct Scattering {
  Basis<F> basis;
  Vec3<F> wo;  // in the basis
  Bsdf<F> bsdf;
  PrincipledShading<F> principled;
  Vec3<F> emission;  // radiance, the same on both sides of a surface
  F p_mirror;        // of Phong's: probability that a path goes on along the mirror direction
};

// normal: towards the viewer; inside: the viewer is inside the surface; eta: index of refraction beyond the surface by
// that of the viewer's side, of use for glass
template <class F>
RT_HD Scattering<F> scattering(const Bsdf<F>& b, Vec3<F> normal, Vec3<F> wo, MaskOf<F> inside, F eta) {
  Scattering<F> s;
  s.bsdf = b;
  s.basis = basis_about(normal);
  s.wo = s.basis.to_local(wo);
  s.wo.z = max_(s.wo.z, F(1e-6f));
  s.emission = {F(0.0f), F(0.0f), F(0.0f)};
  if (any(b.is_principled)) {
    s.principled = principled_shading(b.principled, b.albedo, s.wo.z, inside, eta);
    s.emission = select(b.is_principled, b.principled.emission, F(0.0f)) * b.albedo;
  }
  const F diffuse = scattered_share(b.phong) * b.phong.diffuse * largest(b.albedo);
  s.p_mirror = RT_MIRRORS ? by_density(b.phong.mirror, b.phong.mirror + diffuse) : F(0.0f);
  return s;
}

template <class F>
struct ScatteringValue {
  Vec3<F> value;
  F highlight;  // white, and not sampled
  F pdf;        // of scattering_sample for this direction, per solid angle
};

template <class F> RT_HD ScatteringValue<F> scattering_eval(const Scattering<F>& s, Vec3<F> wi) {
  const F one(1.0f), zero(0.0f);
  const Vec3<F> i = s.basis.to_local(wi);
  const MaskOf<F> principled = s.bsdf.is_principled;
  ScatteringValue<F> a = {{zero, zero, zero}, zero, zero};
  if (any(!principled)) {
    const Phong<F>& m = s.bsdf.phong;
    const MaskOf<F> lit = (!principled) & (i.z > zero);
    const PhongValue<F> terms = phong_eval(m, Vec3<F>{zero, zero, one}, s.wo, i, max_(i.z, zero));
    a.value = select(lit, scattered_share(m) * terms.diffuse, zero) * s.bsdf.albedo;
    a.highlight = select(lit, terms.specular, zero);
    a.pdf = select(lit, (one - s.p_mirror) * i.z * F(1.0f / kPi), zero);
  }
  if (any(principled)) {
    const BsdfValue<F> b = principled_eval(s.principled, s.wo, i);
    a.value = select3(principled, b.value, a.value);
    a.pdf = select(principled, b.pdf, a.pdf);
  }
  return a;
}

template <class F>
struct ScatteringSample {
  Vec3<F> wi;
  Vec3<F> weight;  // value by density; 0: the path ends
  F pdf;           // 0: the direction was certain
};

// u: a point of the unit square; lobe: in [0, 1)
template <class F> RT_HD ScatteringSample<F> scattering_sample(const Scattering<F>& s, Sample2d<F> u, F lobe) {
  const F one(1.0f), zero(0.0f);
  const MaskOf<F> principled = s.bsdf.is_principled;
  Vec3<F> i = {zero, zero, one};
  ScatteringSample<F> a = {i, i, zero};
  if (any(!principled)) {
    const Phong<F>& m = s.bsdf.phong;
    const MaskOf<F> mirror = lobe < s.p_mirror;
    const F root = sqrt_(u.u);
    const SinCos<F> phi = sincos_turns(u.v);
    const Vec3<F> out = {root * phi.cos, root * phi.sin, sqrt_(max_(one - u.u, zero))};
    i = select3(mirror, Vec3<F>{zero - s.wo.x, zero - s.wo.y, s.wo.z}, out);
    const Vec3<F> diffuse = by_density(scattered_share(m) * m.diffuse, one - s.p_mirror) * s.bsdf.albedo;
    const F mirrored = by_density(m.mirror, s.p_mirror);
    a.weight = select3(mirror, mirrored * m.mirror_color, diffuse);
    a.pdf = select(mirror, zero, (one - s.p_mirror) * i.z * F(1.0f / kPi));
  }
  if (any(principled)) {
    const PrincipledSample<F> b = principled_sample(s.principled, s.wo, u, lobe);
    i = select3(principled, b.i, i);
    a.weight = select3(principled, b.weight, a.weight);
    a.pdf = select(principled, b.pdf, a.pdf);
  }
  a.wi = normalize(s.basis.to_world(i));
  return a;
}

// Directions are drawn from the lobes with these factors of their probabilities alone: 1 or 0.
template <class F> RT_HD void keep_lobes(Scattering<F>& s, F coat, F layer, F glass) {
  s.p_mirror = F(1.0f);  // Phong's: none but the mirror
  if (!any(s.bsdf.is_principled)) return;
  PrincipledShading<F>& m = s.principled;
  m.p_coat = coat * m.p_coat, m.p_layer = layer * m.p_layer, m.p_glass = glass * m.p_glass;
  m.p_diffuse = m.p_multiple = m.p_glass_multiple = F(0.0f);
  const F scale = by_density(F(1.0f), m.p_coat + m.p_layer + m.p_glass);
  m.p_coat = scale * m.p_coat, m.p_layer = scale * m.p_layer, m.p_glass = scale * m.p_glass;
}

// The largest alpha of a lobe that samples of an area light hardly hit.
constexpr float kNarrowAlpha = 0.1f;

// Directions are drawn from narrow lobes alone, as those of a coat or of a polished metal.
template <class F> RT_HD void keep_narrow_lobes(Scattering<F>& s) {
  if (!any(s.bsdf.is_principled)) return keep_lobes(s, F(0.0f), F(0.0f), F(0.0f));
  const PrincipledShading<F>& m = s.principled;
  const F narrow = select(m.alpha <= F(kNarrowAlpha), F(1.0f), F(0.0f));
  keep_lobes(s, F(1.0f), narrow, select(m.smooth, F(0.0f), narrow));
}

// Share of ambient light that is reflected, where none of it is traced.
template <class F> RT_HD Vec3<F> scattering_ambient(const Scattering<F>& s) {
  const Vec3<F> phong = (s.bsdf.phong.ambient * scattered_share(s.bsdf.phong)) * s.bsdf.albedo;
  if (!any(s.bsdf.is_principled)) return phong;
  return select3(s.bsdf.is_principled, principled_albedo(s.principled), phong);
}

}  // namespace RT_NS
