// Camera rays.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// position and axes in render space; right and up carry the half extents of the picture
#define RT_FIELDS_Camera(F)                                                                              \
  F(float, origin, 3) F(int32_t, kind, 1)      /* kind: CameraKind */                             \
  F(float, forward, 3) F(float, lens_radius, 1) /* unit; 0: all is in focus */                    \
  F(float, right, 3) F(float, focus_distance, 1) /* along forward */                              \
  F(float, up, 3) F(float, pad, 1)

#elif !defined(RT_INTEGRATOR_CAMERA_H)
#define RT_INTEGRATOR_CAMERA_H
#include "../core/enums.h"
#include "../core/sampling.h"
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

template <class F>
struct Ray {
  Vec3<F> origin, direction;  // direction is unit
};

// The ray of a panorama, an equirectangular picture of all around: u and v in [-1, 1] are longitude and latitude by half
// of their ranges.
template <class F> RT_HD Ray<F> panorama_ray(const rt::Camera& cam, F u, F v) {
  const F turns = fma_(u, F(0.5f), F(0.5f)), quarters = fma_(v, F(0.25f), F(0.5f));
  const SinCos<F> longitude = sincos_turns(turns - floor_(turns)), latitude = sincos_turns(quarters);
  // both are half a turn on
  const F flat = latitude.cos;
  const Vec3<F> ahead = (flat * longitude.cos) * splat3<F>(cam.forward);
  const Vec3<F> aside = fma3(flat * longitude.sin, splat3<F>(cam.right), ahead);
  return {splat3<F>(cam.origin), normalize(fma3(F(0.0f) - latitude.sin, splat3<F>(cam.up), aside))};
}

// A ray through a thin lens: from a point of the lens to where the ray through its middle is in focus (Potmesil,
// Chakravarty 1981). point: of the unit square
template <class F> RT_HD Ray<F> lens_ray(const rt::Camera& cam, Vec3<F> across, const Sample2d<F>& point) {
  const SinCos<F> phi = sincos_turns(point.v);
  const F radius = F(cam.lens_radius) * sqrt_(point.u);
  const Vec3<F> right = normalize(splat3<F>(cam.right)), up = normalize(splat3<F>(cam.up));
  const Vec3<F> offset = fma3(radius * phi.cos, right, (radius * phi.sin) * up);
  const Vec3<F> focus = F(cam.focus_distance) * (splat3<F>(cam.forward) + across);
  return {splat3<F>(cam.origin) + offset, normalize(focus - offset)};
}

// Whether all rays start at one point, or go in one direction, within a view of less than all around.
RT_HD bool is_pinhole(const rt::Camera& cam) { return cam.kind != kCameraPanorama && !(cam.lens_radius > 0.0f); }

// Ray of sample s of pixel (x, y). kAll: of any camera; otherwise of pinholes alone
template <class F, bool kAll = RT_FULL_SHADING>
RT_HD Ray<F> camera_ray(const rt::Camera& cam, const rt::Film& film, const rt::Sampler& sampler, UintOf<F> x,
                        UintOf<F> y, uint32_t s) {
  F sx = F(0.5f), sy = F(0.5f);
  if (sampler.filter != kFilterPoint) {
    const Sample2d<F> point = sample_2d<F>(sampler.seed, x, y, s, 0, kUseFilter);
    sx = sx + filter_sample(sampler.filter, sampler.filter_radius, point.u);
    sy = sy + filter_sample(sampler.filter, sampler.filter_radius, point.v);
  }
  F u = fma_(to_float(x) + sx, F(2.0f / (float)film.width), F(-1.0f));
  F v = fma_(to_float(y) + sy, F(-2.0f / (float)film.height), F(1.0f));
  if (kAll && cam.kind == kCameraPanorama) return panorama_ray(cam, u, v);
  Vec3<F> across = fma3(v, splat3<F>(cam.up), u * splat3<F>(cam.right));
  if (cam.kind == kCameraOrthographic) return {splat3<F>(cam.origin) + across, splat3<F>(cam.forward)};
  if (kAll && cam.lens_radius > 0.0f && s != kCenterSample)  // no path ends so early that it needs this number
    return lens_ray(cam, across, sample_2d<F>(sampler.seed, x, y, s, 0, kUseTermination));
  return {splat3<F>(cam.origin), normalize(splat3<F>(cam.forward) + across)};
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_CAMERA_H
