// Area lights: a sphere about a point, a cone of directions, a rectangle, a disk. Rays pass through them
// and take their light along.
//
// The colour of a rectangle or disk is its radiance. That of a point or direction is pi times less than the
// irradiance of a surface that faces it, as for lights without extent, whatever the extent is.
#pragma once
#include "../core/sampling.h"
#include "light.h"

namespace RT_NS {

constexpr float kInvPi = 0.318309886f;

// What a ray meets in a light.
template <class F>
struct LightHit {
  F t;         // negative: the ray misses
  F radiance;  // factor on the light's colour
  F pdf;       // of sampling this direction from the ray's origin, per solid angle
};

// The cone of directions in which a point sees a light. sin2: square of the sine of half its angle.
template <class F>
struct LightCone {
  Vec3<F> axis;
  F distance;       // to the light's centre
  F sin2, versine;  // versine: 1 - cosine, without cancellation
  F attenuation;    // factor on the colour of a light without extent
};

template <class F> RT_HD LightCone<F> light_cone(const rt::Light& light, Vec3<F> position) {
  const LightSample<F> center = light_sample(light, position);
  F sin2(light.extent);
  if (light.kind == kLightPoint) {
    const F part = sin2 / center.distance;
    sin2 = min_(part * part, F(1.0f));
  }
  return {center.wi, center.distance, sin2, sin2 / (F(1.0f) + sqrt_(max_(F(1.0f) - sin2, F(0.0f)))),
          center.attenuation};
}

// t at which a ray at the angle with this sine, squared, to the axis of the cone meets its light
template <class F> RT_HD F cone_distance(const rt::Light& light, const LightCone<F>& c, F sin2, F cosine) {
  if (light.kind == kLightDirectional) return F(kInfinity);
  const F half2 = fma_(F(light.extent), F(light.extent), F(0.0f) - c.distance * c.distance * sin2);
  return max_(fma_(c.distance, cosine, F(0.0f) - sqrt_(max_(half2, F(0.0f)))), F(0.0f));
}

// Density of cone_direction, per solid angle.
template <class F> RT_HD F cone_pdf(F versine) { return F(0.5f * kInvPi) / versine; }

// A direction of a cone, and cosine and square of the sine of its angle to the axis.
template <class F>
struct ConeDirection {
  Vec3<F> wi;
  F cosine, sin2;
};

// versine: 1 - cosine of half the angle of the cone; u: a point of the unit square
template <class F> RT_HD ConeDirection<F> cone_direction(Vec3<F> axis, F versine, const Sample2d<F>& u) {
  const F down = u.u * versine, cosine = F(1.0f) - down;
  const F sin2 = down * (F(2.0f) - down), sine = sqrt_(sin2);
  const SinCos<F> phi = sincos_turns(u.v);
  return {normalize(basis_about(axis).to_world({sine * phi.cos, sine * phi.sin, cosine})), cosine, sin2};
}

template <class F>
RT_HD LightSample<F> sample_cone(const rt::Light& light, Vec3<F> position, const Sample2d<F>& u) {
  const LightCone<F> c = light_cone(light, position);
  const ConeDirection<F> to = cone_direction(c.axis, c.versine, u);
  return {to.wi, cone_distance(light, c, to.sin2, to.cosine), c.attenuation * F(2.0f) / (F(2.0f) - c.versine),
          cone_pdf(c.versine)};
}

template <class F>
RT_HD LightHit<F> hit_cone(const rt::Light& light, Vec3<F> position, Vec3<F> wi) {
  const LightCone<F> c = light_cone(light, position);
  const Vec3<F> across = wi - c.axis;
  const F down = F(0.5f) * dot(across, across);  // 1 - cosine
  const F t = cone_distance(light, c, down * (F(2.0f) - down), F(1.0f) - down);
  return {select(down < c.versine, t, F(-1.0f)), c.attenuation / c.sin2, cone_pdf(c.versine)};
}

template <class F>
RT_HD LightSample<F> sample_flat(const rt::Light& light, Vec3<F> position, const Sample2d<F>& u) {
  F a = fma_(u.u, F(2.0f), F(-1.0f)), b = fma_(u.v, F(2.0f), F(-1.0f));
  if (light.kind == kLightDisk) {
    const SinCos<F> phi = sincos_turns(u.v);
    a = sqrt_(u.u) * phi.cos, b = sqrt_(u.u) * phi.sin;
  }
  const Vec3<F> to = fma3(a, splat3<F>(light.u), fma3(b, splat3<F>(light.v), splat3<F>(light.vector))) - position;
  const F distance2 = dot(to, to), distance = sqrt_(distance2);
  const Vec3<F> wi = (F(1.0f) / distance) * to;
  const F cosine = max_(F(0.0f) - dot(wi, splat3<F>(light.normal)), F(0.0f));  // 0 behind the light
  const F seen = cosine * F(light.extent);
  return {wi, distance, seen * F(kInvPi) / distance2, distance2 / max_(seen, F(1e-20f))};
}

template <class F>
RT_HD LightHit<F> hit_flat(const rt::Light& light, Vec3<F> position, Vec3<F> wi) {
  const Vec3<F> u = splat3<F>(light.u), v = splat3<F>(light.v), to = splat3<F>(light.vector) - position;
  const F cosine = F(0.0f) - dot(wi, splat3<F>(light.normal));
  const F t = F(0.0f) - dot(to, splat3<F>(light.normal)) / max_(cosine, F(1e-20f));
  const Vec3<F> at = fma3(t, wi, F(-1.0f) * to);
  const F a = dot(at, u) / dot(u, u), b = dot(at, v) / dot(v, v);
  const MaskOf<F> within =
      light.kind == kLightDisk ? fma_(a, a, b * b) <= F(1.0f) : (abs_(a) <= F(1.0f)) & (abs_(b) <= F(1.0f));
  const MaskOf<F> hit = within & (cosine > F(0.0f)) & (t > F(0.0f));
  return {select(hit, t, F(-1.0f)), F(1.0f), t * t / max_(cosine * F(light.extent), F(1e-20f))};
}

RT_HD bool is_flat(const rt::Light& light) { return light.kind == kLightRectangle || light.kind == kLightDisk; }

RT_HD bool is_area_light(const rt::Light& light) { return light.extent > 0.0f; }

// A direction to an area light.
template <class F>
RT_HD LightSample<F> area_light_sample(const rt::Light& light, Vec3<F> position, const Sample2d<F>& u) {
  return is_flat(light) ? sample_flat(light, position, u) : sample_cone(light, position, u);
}

// An area light, as a ray from `position` meets it.
template <class F> RT_HD LightHit<F> area_light_hit(const rt::Light& light, Vec3<F> position, Vec3<F> wi) {
  return is_flat(light) ? hit_flat(light, position, wi) : hit_cone(light, position, wi);
}

}  // namespace RT_NS
