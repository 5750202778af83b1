// Camera rays.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// position and axes in render space; right and up carry the half extents of the picture
#define RT_CAMERA(F)                                                                              \
  F(float, origin, 3) F(int32_t, kind, 1)      /* kind: CameraKind */                             \
  F(float, forward, 3) F(float, pad0, 1)       /* unit */                                         \
  F(float, right, 3) F(float, pad1, 1) F(float, up, 3) F(float, pad2, 1)

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

// Ray of sample s of pixel (x, y)
template <class F>
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
  Vec3<F> across = fma3(v, splat3<F>(cam.up), u * splat3<F>(cam.right));
  if (cam.kind == kCameraOrthographic) return {splat3<F>(cam.origin) + across, splat3<F>(cam.forward)};
  return {splat3<F>(cam.origin), normalize(splat3<F>(cam.forward) + across)};
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_CAMERA_H
