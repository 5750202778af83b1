// Microfacets with the GGX distribution of normals (Trowbridge, Reitz 1975; Walter et al. 2007) and Smith's
// height-correlated masking, in the frame whose z axis is the normal, and Fresnel factors. alpha: roughness squared;
// o: unit, towards the viewer, o.z > 0.
#pragma once
#include "../core/sampling.h"
#include "ggx_albedo.h"
#include "ggx_glass.h"

namespace RT_NS {

// Below this a surface is as good as smooth, and float32 would not resolve its highlight.
constexpr float kLeastAlpha = 1e-3f;

// Closer to 1 an index of refraction neither bends nor reflects what float32 would resolve.
constexpr float kLeastIndex = 1.0005f;

constexpr float kPi = 3.14159265f;

// pi times the density of normals m per projected area
template <class F> RT_HD F ggx_density(F alpha, Vec3<F> m) {
  const F a2 = alpha * alpha;
  const F k = fma_(a2 * m.z, m.z, fma_(m.x, m.x, m.y * m.y));
  return a2 / (k * k);
}

template <class F> RT_HD F ggx_root(F alpha, F cosine) {
  const F a2 = alpha * alpha;
  return sqrt_(fma_(fma_(F(0.0f) - a2, cosine, cosine), cosine, a2));
}

// share that is seen from both directions, divided by the product of both cosines and 2
template <class F> RT_HD F ggx_visible_both(F alpha, F cos_o, F cos_i) {
  return quotient(F(1.0f), max_(fma_(cos_o, ggx_root(alpha, cos_i), cos_i * ggx_root(alpha, cos_o)), F(kLeastNormal)));
}

// A normal out of those seen from o: spherical caps (Dupuy, Benyoub 2023).
template <class F> RT_HD Vec3<F> ggx_sample(F alpha, Vec3<F> o, Sample2d<F> p) {
  const Vec3<F> stretched = normalize(Vec3<F>{alpha * o.x, alpha * o.y, o.z});
  const F z = fma_(F(1.0f) - p.v, F(1.0f) + stretched.z, F(0.0f) - stretched.z);
  const F across = sqrt_(max_(fma_(F(0.0f) - z, z, F(1.0f)), F(0.0f)));
  const SinCos<F> phi = sincos_turns(p.u);
  const Vec3<F> half = {fma_(across, phi.cos, stretched.x), fma_(across, phi.sin, stretched.y), z + stretched.z};
  return normalize(Vec3<F>{alpha * half.x, alpha * half.y, max_(half.z, F(1e-7f))});
}

// pi times the density of ggx_sample per solid angle of the normal m, divided by the cosine of o to m, which the density
// of a direction has in its divisor: the share of the normals that are seen from o, 2 o.z / (o.z + root), by o.z
template <class F> RT_HD F ggx_pdf(F alpha, Vec3<F> o, Vec3<F> m) {
  return quotient(F(2.0f), o.z + ggx_root(alpha, o.z)) * ggx_density(alpha, m);
}

template <class F> RT_HD F pow5(F a) {
  const F a2 = a * a;
  return a2 * a2 * a;
}

// Fresnel's factor of a dielectric, unpolarised. eta: index of refraction beyond the surface, divided by that of the
// viewer's side; cosine: to the normal, positive. cos_t: of the refracted ray, positive; 0 under total reflection.
template <class F>
struct Fresnel {
  F reflected, cos_t;
};

template <class F> RT_HD Fresnel<F> fresnel_dielectric(F cosine, F eta) {
  const F sin2_t = fma_(F(0.0f) - cosine, cosine, F(1.0f)) / (eta * eta);
  const F cos_t = sqrt_(max_(F(1.0f) - sin2_t, F(0.0f)));
  const F parallel = (eta * cosine - cos_t) / (eta * cosine + cos_t);
  const F perpendicular = (cosine - eta * cos_t) / (cosine + eta * cos_t);
  const F r = F(0.5f) * fma_(parallel, parallel, perpendicular * perpendicular);
  return {select(sin2_t < F(1.0f), r, F(1.0f)), cos_t};
}

// Share of light that one bounce reflects: f0 and f90 are the Fresnel factors along the normal and at grazing.
template <class F>
struct GgxAlbedo {
  F all;      // with a Fresnel factor of 1
  F grazing;  // with one of (1 - cosine)^5

  RT_HD F with(F f0, F f90) const { return fma_(f0, all - grazing, f90 * grazing); }
};

// entries: a table of ggx_albedo.h by roughness and cosine
template <class F> RT_HD GgxAlbedo<F> albedo_entry(const float* entries, F roughness, F cosine) {
  using U = UintOf<F>;
  const F x = sqrt_(min_(max_(cosine, F(0.0f)), F(1.0f))) * F((float)(kAlbedoSize - 1));
  const F y = min_(max_(roughness, F(0.0f)), F(1.0f)) * F((float)(kAlbedoSize - 1));
  const U last((uint32_t)(kAlbedoSize - 2));
  const U i = select(x < F((float)(kAlbedoSize - 2)), to_uint(x), last);
  const U j = select(y < F((float)(kAlbedoSize - 2)), to_uint(y), last);
  const F u = x - to_float(i), v = y - to_float(j);
  const U at = (j * U((uint32_t)kAlbedoSize) + i) << 1, next = at + U((uint32_t)(2 * kAlbedoSize));
  const U two(2u), one(1u);
  const F a0 = gather(entries, at), a1 = gather(entries, at + two);
  const F a2 = gather(entries, next), a3 = gather(entries, next + two);
  const F b0 = gather(entries, at + one), b1 = gather(entries, at + one + two);
  const F b2 = gather(entries, next + one), b3 = gather(entries, next + one + two);
  const F low_a = fma_(u, a1 - a0, a0), high_a = fma_(u, a3 - a2, a2);
  const F low_b = fma_(u, b1 - b0, b0), high_b = fma_(u, b3 - b2, b2);
  return {fma_(v, high_a - low_a, low_a), fma_(v, high_b - low_b, low_b)};
}

// A place between two entries of a table with n entries.
template <class F>
struct TablePlace {
  UintOf<F> entry;
  F part;
};

// x: in [0, 1]
template <class F> RT_HD TablePlace<F> table_place(F x, int n) {
  const F at = min_(max_(x, F(0.0f)), F(1.0f)) * F((float)(n - 1));
  const UintOf<F> entry = select(at < F((float)(n - 2)), to_uint(at), UintOf<F>((uint32_t)(n - 2)));
  return {entry, at - to_float(entry)};
}

// entries: averages of ggx_albedo.h by roughness
template <class F> RT_HD GgxAlbedo<F> average_entry(const float* entries, F roughness) {
  using U = UintOf<F>;
  const TablePlace<F> r = table_place(roughness, kAlbedoSize);
  const U at = r.entry << 1;
  const F a0 = gather(entries, at), a1 = gather(entries, at + U(2u));
  const F b0 = gather(entries, at + U(1u)), b1 = gather(entries, at + U(3u));
  return {fma_(r.part, a1 - a0, a0), fma_(r.part, b1 - b0, b0)};
}

// Where the tables of glass have a roughness and an index. eta: as in fresnel_dielectric.
template <class F>
struct GlassPlace {
  UintOf<F> first;  // of the lower roughness and index
  F roughness, index;
};

template <class F> RT_HD GlassPlace<F> glass_place(F roughness, F eta) {
  using U = UintOf<F>;
  const F one(1.0f), largest(1.0f / (1.0f - 1.0f / kGlassMaxIndex));
  const TablePlace<F> r = table_place(roughness, kGlassSize);
  const TablePlace<F> k = table_place(sqrt_(largest * (one - min_(eta, one / eta))), kGlassSize);
  const U side = select(eta < one, U((uint32_t)(kGlassSize * kGlassSize)), U(0u));
  return {side + r.entry * U((uint32_t)kGlassSize) + k.entry, r.part, k.part};
}

// entries: a table of ggx_glass.h
template <class F> RT_HD F glass_entry(const float* entries, F roughness, F eta, F cosine) {
  using U = UintOf<F>;
  const GlassPlace<F> g = glass_place(roughness, eta);
  const TablePlace<F> c = table_place(sqrt_(max_(cosine, F(0.0f))), kGlassSize);
  const U row((uint32_t)kGlassSize), at = g.first * row + c.entry;
  F found[2];
  for (int j = 0; j < 2; ++j) {
    const U low = at + U((uint32_t)(j * kGlassSize * kGlassSize)), high = low + row;
    const F a0 = gather(entries, low), a1 = gather(entries, low + U(1u));
    const F b0 = gather(entries, high), b1 = gather(entries, high + U(1u));
    const F a = fma_(c.part, a1 - a0, a0), b = fma_(c.part, b1 - b0, b0);
    found[j] = fma_(g.index, b - a, a);
  }
  return F(kGlassUnit) * fma_(g.roughness, found[1] - found[0], found[0]);
}

// entries: means of ggx_glass.h
template <class F> RT_HD F glass_mean_entry(const float* entries, F roughness, F eta) {
  using U = UintOf<F>;
  const GlassPlace<F> g = glass_place(roughness, eta);
  const U next = g.first + U((uint32_t)kGlassSize), one(1u);
  const F a0 = gather(entries, g.first), a1 = gather(entries, g.first + one);
  const F b0 = gather(entries, next), b1 = gather(entries, next + one);
  const F a = fma_(g.index, a1 - a0, a0), b = fma_(g.index, b1 - b0, b0);
  return F(kGlassUnit) * fma_(g.roughness, b - a, a);
}

}  // namespace RT_NS
