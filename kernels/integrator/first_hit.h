// What the ray through a pixel's centre meets first, for arbitrary output variables. A scheduler finds the
// sphere; samples and mirrors have no part in it, and the frame's filter must be "point".
#pragma once
#include "../geom/large_sphere.h"
#include "camera.h"
#include "hit_filter.h"
#include "scene.h"

namespace RT_NS {

constexpr uint32_t kNoSphere = 0xffffffffu;

RT_HD rt::FirstHit no_hit() {
  rt::FirstHit h = {};
  h.depth = kInfinity;
  h.id = kNoSphere;
  return h;
}

// What a ray meets at t: `prim`, the primitive given.
RT_HD rt::FirstHit first_hit(const rt::SceneTables& s, uint32_t prim, const Primitive<float>& primitive, float t,
                             Vec3<float> origin, Vec3<float> direction) {
  const int count = s.frame->scene.large_count;
  SurfacePoint<float> p = surface_point<float>(s.large, count, prim, primitive, origin, direction);
  if (s.frame->clip.clip_count)
    p = clipped_point<float>(s.frame->clip, s.large, count, prim, primitive, p, origin, direction).point;
  const uint32_t surface = surface_of(s, prim), id = number_of(s, prim, surface);
#if RT_SOLIDS
  const Vec3<float> albedo = albedo_at(s, primitive, p, surface);
  if (is_triangle(primitive)) p.position = fma3(t, direction, origin);  // that of shading may be beside the triangle
#else
  const Vec3<float> albedo = load_albedo<float>(s, surface);
#endif
  return {{p.normal.x, p.normal.y, p.normal.z},       t,   {albedo.x, albedo.y, albedo.z}, id,
          {p.position.x, p.position.y, p.position.z}, 0.0f};
}

}  // namespace RT_NS
