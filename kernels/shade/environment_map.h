// Light from all around by an image, sampled as a light: a texel is chosen by the light that it sends, by Walker's alias
// method (1977), and a point in it.
//
// The image is the unit sphere folded open as an octahedron (Praun, Hoppe 2003): a square without trigonometry, whose
// texels all have solid angles of the same order.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// map_x, background_up and their cross product are the image's axes; map_sampled: whether an even one is sampled as a light
// all the same
#define RT_ENVIRONMENTMAP(F)                                                                                 \
  F(float, map_x, 3) F(int32_t, map_size, 1)   /* unit; texels of a side, 0: there is no image */ \
  F(int32_t, map_visible, 1) F(int32_t, map_even, 1) /* whether the camera sees it; whether no part is much brighter */ \
  F(int32_t, map_shadow, 1) F(int32_t, map_sampled, 1) /* whether spheres cast shadows in its light; see above */

// A texel is chosen with probability share / (number of texels); threshold and alias as in Emitter.
#define RT_ENVIRONMENTTEXEL(F)                                                                            \
  F(float, radiance, 3) F(float, share, 1)     /* linear RGB */                                   \
  F(float, threshold, 1) F(uint32_t, alias, 1) F(float, pad, 2)

#elif !defined(RT_SHADE_ENVIRONMENT_MAP_H)
#define RT_SHADE_ENVIRONMENT_MAP_H
#include "../core/sampling.h"
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

constexpr uint32_t kEnvironmentTexelFloats = sizeof(rt::EnvironmentTexel) / sizeof(float);

// A direction on the folded-open octahedron.
template <class F>
struct OctahedralPoint {
  F u, v;      // in [0, 1]
  F distance;  // of the point of the octahedron from its centre: the solid angle of an area is area / distance^3
};

template <class F> RT_HD F with_sign(F magnitude, F of) { return select(of < F(0.0f), F(0.0f) - magnitude, magnitude); }

// The part of the map below the equator is folded outwards over its edges; z: above if positive.
template <class F> RT_HD void fold_octahedron(F z, F& x, F& y) {
  const F folded_x = with_sign(F(1.0f) - abs_(y), x), folded_y = with_sign(F(1.0f) - abs_(x), y);
  x = select(z < F(0.0f), folded_x, x), y = select(z < F(0.0f), folded_y, y);
}

// direction: unit, in the axes of the map
template <class F> RT_HD OctahedralPoint<F> octahedral_point(Vec3<F> direction) {
  const F distance = F(1.0f) / (abs_(direction.x) + abs_(direction.y) + abs_(direction.z));
  F x = direction.x * distance, y = direction.y * distance;
  fold_octahedron(direction.z, x, y);
  return {fma_(x, F(0.5f), F(0.5f)), fma_(y, F(0.5f), F(0.5f)), distance};
}

template <class F> RT_HD Vec3<F> octahedral_direction(F u, F v) {
  F x = fma_(u, F(2.0f), F(-1.0f)), y = fma_(v, F(2.0f), F(-1.0f));
  const F z = F(1.0f) - abs_(x) - abs_(y);
  fold_octahedron(z, x, y);
  return normalize(Vec3<F>{x, y, z});
}

// The axes of the image.
template <class F> RT_HD Basis<F> environment_basis(const rt::Frame& frame) {
  const Vec3<F> x = splat3<F>(frame.environment_map.map_x), up = splat3<F>(frame.environment.background_up);
  return {x, {up.y * x.z - up.z * x.y, up.z * x.x - up.x * x.z, up.x * x.y - up.y * x.x}, up};
}

template <class F> RT_HD Vec3<F> environment_texel(const rt::EnvironmentTexel* texels, UintOf<F> number) {
  const float* fields = (const float*)texels;
  const UintOf<F> at = number * UintOf<F>(kEnvironmentTexelFloats);
  return {gather(fields, at), gather(fields + 1, at), gather(fields + 2, at)};
}

// Radiance at a point of the map, interpolated between the middles of texels.
template <class F> RT_HD Vec3<F> environment_interpolated(const rt::EnvironmentTexel* texels, int32_t size, F u, F v) {
  using U = UintOf<F>;
  const F last((float)(size - 1)), zero(0.0f);
  const F x = min_(max_(fma_(u, F((float)size), F(-0.5f)), zero), last);
  const F y = min_(max_(fma_(v, F((float)size), F(-0.5f)), zero), last);
  const U x0 = to_uint(x), y0 = to_uint(y), most((uint32_t)(size - 1)), one(1u);
  const F across = x - to_float(x0), down = y - to_float(y0);
  const U x1 = select(x0 < most, x0 + one, most), y1 = select(y0 < most, y0 + one, most);
  const U top = y0 * U((uint32_t)size), bottom = y1 * U((uint32_t)size);
  const Vec3<F> a = environment_texel<F>(texels, top + x0), b = environment_texel<F>(texels, top + x1);
  const Vec3<F> c = environment_texel<F>(texels, bottom + x0), d = environment_texel<F>(texels, bottom + x1);
  const Vec3<F> upper = fma3(across, b - a, a), lower = fma3(across, d - c, c);
  return fma3(down, lower - upper, upper);
}

// Density per solid angle of a point in a texel with that share.
template <class F> RT_HD F environment_density(F share, F distance) {
  return F(0.25f) * share * (distance * distance * distance);
}

// What comes from a direction.
template <class F>
struct EnvironmentLight {
  Vec3<F> radiance;
  F pdf;  // of environment_light_sample, per solid angle
};

template <class F> RT_HD EnvironmentLight<F> environment_light(const rt::EnvironmentTexel* texels,
                                                               const rt::Frame& frame, Vec3<F> direction) {
  using U = UintOf<F>;
  const int32_t size = frame.environment_map.map_size;
  const OctahedralPoint<F> p = octahedral_point(environment_basis<F>(frame).to_local(direction));
  const U most((uint32_t)(size - 1));
  const U x = to_uint(p.u * F((float)size)), y = to_uint(p.v * F((float)size));
  const U number = select(y < most, y, most) * U((uint32_t)size) + select(x < most, x, most);
  const F share = gather((const float*)texels + 3, number * U(kEnvironmentTexelFloats));
  return {environment_interpolated(texels, size, p.u, p.v), environment_density(share, p.distance)};
}

template <class F>
struct EnvironmentLightSample {
  Vec3<F> wi;
  EnvironmentLight<F> light;
};

// choice, other: in [0, 1), which texel; point: where in it
template <class F>
RT_HD EnvironmentLightSample<F> environment_light_sample(const rt::EnvironmentTexel* texels, const rt::Frame& frame,
                                                         F choice, F other, const Sample2d<F>& point) {
  using U = UintOf<F>;
  const uint32_t size = (uint32_t)frame.environment_map.map_size;
  const float* fields = (const float*)texels;
  const U first = to_uint(choice * F((float)(size * size)));
  const U at = first * U(kEnvironmentTexelFloats);
  const U chosen = select(other < gather(fields + 4, at), first, as_uint(gather(fields + 5, at)));
  const U row = to_uint((to_float(chosen) + F(0.5f)) * F(1.0f / (float)size));  // exact: size is a power of two
  const U column = chosen - row * U(size);
  const F u = (to_float(column) + point.u) * F(1.0f / (float)size);
  const F v = (to_float(row) + point.v) * F(1.0f / (float)size);
  const Vec3<F> local = octahedral_direction(u, v);
  const F distance = F(1.0f) / (abs_(local.x) + abs_(local.y) + abs_(local.z));
  const F share = gather(fields + 3, chosen * U(kEnvironmentTexelFloats));
  const Vec3<F> wi = normalize(environment_basis<F>(frame).to_world(local));
  return {wi, {environment_interpolated(texels, (int32_t)size, u, v), environment_density(share, distance)}};
}

}  // namespace RT_NS
#endif
