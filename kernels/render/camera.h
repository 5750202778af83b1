// Camera rays, and what they see when they hit nothing.
#pragma once
#include "../core/sampling.h"
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

enum CameraKind : int32_t { kCameraPerspective = 0, kCameraOrthographic = 1 };
enum BackgroundKind : int32_t { kBackgroundGradient = 0, kBackgroundTransparent = 1 };

template <class F>
struct Ray {
  Vec3<F> origin, direction;  // direction is unit
};

// Ray of sample s of pixel (x, y)
template <class F>
RT_HD Ray<F> camera_ray(const rt::Camera& cam, const rt::Frame& frame, UintOf<F> x, UintOf<F> y, uint32_t s) {
  F sx = F(0.5f), sy = F(0.5f);
  if (frame.filter != kFilterPoint) {
    F u0, u1;
    sample_point(frame.seed, x, y, s, u0, u1);
    sx = sx + filter_sample(frame.filter, frame.filter_radius, u0);
    sy = sy + filter_sample(frame.filter, frame.filter_radius, u1);
  }
  F u = fma_(to_float(x) + sx, F(2.0f / (float)frame.width), F(-1.0f));
  F v = fma_(to_float(y) + sy, F(-2.0f / (float)frame.height), F(1.0f));
  Vec3<F> across = fma3(v, splat3<F>(cam.up), u * splat3<F>(cam.right));
  if (cam.kind == kCameraOrthographic) return {splat3<F>(cam.origin) + across, splat3<F>(cam.forward)};
  return {splat3<F>(cam.origin), normalize(splat3<F>(cam.forward) + across)};
}

// Background at height h in [0, 1] (0: bottom of the picture)
template <class F> RT_HD Vec3<F> background(const rt::Frame& frame, F h) {
  if (frame.background_kind == kBackgroundTransparent) return {F(0.0f), F(0.0f), F(0.0f)};
  Vec3<F> bottom = splat3<F>(frame.background_bottom), top = splat3<F>(frame.background_top);
  return fma3(h, top - bottom, bottom);
}

// for a camera ray: its row
template <class F> RT_HD F background_height_row(const rt::Frame& frame, UintOf<F> y) {
  return fma_(to_float(y) + F(0.5f), F(-1.0f / (float)frame.height), F(1.0f));
}

// for a mirrored ray: how far it points up
template <class F> RT_HD F background_height_direction(const rt::Camera& cam, Vec3<F> direction) {
  Vec3<float> up = normalize(vec3<float>(cam.up[0], cam.up[1], cam.up[2]));
  return fma_(dot(direction, splat3<F>(up)), F(0.5f), F(0.5f));
}

}  // namespace RT_NS
