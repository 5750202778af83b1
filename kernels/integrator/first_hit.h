// What the ray through a pixel's centre meets first, for arbitrary output variables. A scheduler finds the
// sphere; samples and mirrors have no part in it, and the frame's filter must be "point".
#pragma once
#include "../geom/large_sphere.h"
#include "camera.h"

namespace RT_NS {

constexpr uint32_t kNoSphere = 0xffffffffu;

RT_HD rt::FirstHit no_hit() {
  rt::FirstHit h = {};
  h.depth = kInfinity;
  h.id = kNoSphere;
  return h;
}

// point, albedo and number of the sphere that was met at t
RT_HD rt::FirstHit first_hit(const SurfacePoint<float>& p, float t, Vec3<float> albedo, uint32_t id) {
  return {{p.normal.x, p.normal.y, p.normal.z},       t,   {albedo.x, albedo.y, albedo.z}, id,
          {p.position.x, p.position.y, p.position.z}, 0.0f};
}

}  // namespace RT_NS
