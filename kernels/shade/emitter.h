// Spheres that send out light, on both sides, sampled as lights: one is chosen by its power, by Walker's alias method
// (1977), and a direction in the cone that it covers. A point inside of it sees it in all directions, where they end.
#pragma once
#include "../geom/primitive.h"
#include "area_light.h"

namespace RT_NS {

// Proportional to the power of a sphere, by which emitters are chosen. What is inside of a large one gets no more of its
// light than it would get of one that just contains it. reach: Frame::scene.emitter_reach
template <class F> RT_HD F emitter_weight(Vec3<F> radiance, F radius, F reach) {
  const F r = min_(radius, reach);
  return max_(radiance.x, max_(radiance.y, radiance.z)) * (r * r);
}

template <class F>
struct EmitterSample {
  LightSample<F> sample;  // attenuation: of `radiance`
  Vec3<F> radiance;
  UintOf<F> sphere, opacity;  // number of the sphere that was chosen, as in rt::Emitter
  Sphere<F> emitter;
  MaskOf<F> around;  // as in SphereCone
  MaskOf<F> meets;   // whether the direction meets the sphere
};

// The cone in which a point sees a sphere.
template <class F>
struct SphereCone {
  Vec3<F> axis;
  F distance2, versine;  // versine: 1 - cosine of half the angle
  MaskOf<F> around;  // the point is inside of the sphere or on it, on either side: the sphere is in all directions
};

// Points that are computed to be on a sphere, also those from which rays leave to its other side, are less than this many
// errors of the surface (surface_error) above it.
constexpr float kNearErrors = 4.0f;

template <class F> RT_HD SphereCone<F> sphere_cone(const Sphere<F>& sphere, Vec3<F> position) {
  const Vec3<F> to = sphere.center - position;
  const F distance2 = dot(to, to);
  const F reach = fma_(F(kNearErrors), surface_error(sphere.center, sphere.radius), sphere.radius);
  const MaskOf<F> around = distance2 <= reach * reach, is_apart = distance2 >= F(kLeastNormal);
  const F sin2 = sphere.radius * sphere.radius / select(around, F(1.0f), distance2);
  const F versine = select(around, F(2.0f), sin2 / (F(1.0f) + sqrt_(max_(F(1.0f) - sin2, F(0.0f)))));
  const Vec3<F> any_axis = {F(0.0f), F(0.0f), F(1.0f)};
  return {select3(is_apart, (F(1.0f) / sqrt_(distance2)) * to, any_axis), distance2, versine, around};
}

// Density per solid angle of emitter_sample in a direction that meets an emitter.
template <class F>
RT_HD F emitter_pdf(const rt::SceneInfo& scene, const Sphere<F>& sphere, Vec3<F> radiance, Vec3<F> position) {
  const F share = emitter_weight(radiance, sphere.radius, F(scene.emitter_reach)) * F(scene.emitter_scale);
  return share * F(0.5f * kInvPi) / sphere_cone(sphere, position).versine;
}

// How far before an emitter the way to it ends: the emitter itself is not in the way. half: half the chord. From inside
// the end of a chord is known as well as the surface, over the cosine at which it meets it; from outside a direction may
// touch the sphere, where it is not.
template <class F> RT_HD F emitter_gap(const Sphere<F>& sphere, Vec3<F> position, MaskOf<F> around, F half) {
  const F farthest = max_(max_abs(sphere.center), max_abs(position));
  const F outside = max_(F(1e-3f) * sphere.radius, F(1e-5f) * farthest);
  const F inside = F(kNearErrors * kSurfaceError) * max_(farthest, sphere.radius) * sphere.radius / half;
  return select(around, min_(inside, outside), outside);
}

// choice: in [0, 1), which emitter; u: where on it
template <class F>
RT_HD EmitterSample<F> emitter_sample(const rt::Emitter* table, int32_t count, Vec3<F> position, F choice,
                                      const Sample2d<F>& u) {
  using U = UintOf<F>;
  const float* fields = (const float*)table;
  const uint32_t stride = (uint32_t)(sizeof(rt::Emitter) / sizeof(float));
  const F x = choice * F((float)count);
  const U last((uint32_t)(count - 1));
  const U i = select(x < F((float)(count - 1)), to_uint(x), last);
  const F part = x - to_float(i);
  const U first = i * U(stride);
  const U chosen = select(part < gather(fields + 8, first), i, as_uint(gather(fields + 9, first)));
  const U at = chosen * U(stride);
  const Sphere<F> sphere = {{gather(fields, at), gather(fields + 1, at), gather(fields + 2, at)},
                            gather(fields + 3, at)};
  const Vec3<F> radiance = {gather(fields + 4, at), gather(fields + 5, at), gather(fields + 6, at)};
  const F share = gather(fields + 7, at);

  const SphereCone<F> cone = sphere_cone(sphere, position);
  const ConeDirection<F> to = cone_direction(cone.axis, cone.versine, u);
  const F half2 = fma_(sphere.radius, sphere.radius, F(0.0f) - cone.distance2 * to.sin2);
  const F half = sqrt_(max_(half2, F(0.0f))), mid = sqrt_(cone.distance2) * to.cosine;
  // from inside, where it ends
  const F near = mid - half, t = select(near > F(0.0f), near, mid + half);
  const F gap = emitter_gap(sphere, position, cone.around, half);
  return {{to.wi, t - gap, by_density(cone.versine + cone.versine, share), share * F(0.5f * kInvPi) / cone.versine},
          radiance,
          as_uint(gather(fields + 10, at)),
          as_uint(gather(fields + 11, at)),
          sphere,
          cone.around,
          MaskOf<F>((!cone.around) | ((half2 >= F(0.0f)) & (t > F(0.0f))))};
}

}  // namespace RT_NS
