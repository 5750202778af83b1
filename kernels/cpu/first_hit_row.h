// First hits of a row of pixels.
#pragma once
#include "../integrator/first_hit.h"
#include "tile.h"
#include "traverse_single.h"

namespace RT_NS {

void first_hit_row(const rt::SceneView& s, rt::FirstHit* row, int y) {
  const rt::Frame& frame = *s.frame;
  for (int x = frame.film.x0; x < frame.film.x1 && !is_cancelled(s); ++x) {
    Ray<float> ray = center_ray(*s.camera, frame, (uint32_t)x, (uint32_t)y);
    float t = kInfinity;
    uint32_t prim = kNoPrim;
    intersect_closest(s, ray.origin, ray.direction, kNoPrim, t, prim, center_hits(s, ray.origin, ray.direction));
    rt::FirstHit& out = row[x - frame.film.x0];
    if (prim == kNoPrim) {
      out = no_hit();
      continue;
    }
    int32_t sphere = s.order[prim];
    const Primitive<float> primitive = load_primitive(s, prim);
    const SurfacePoint<float> point = first_surface(s, prim, primitive, ray.origin, ray.direction);
#if RT_SOLIDS
    const Vec3<float> albedo = albedo_at(s, primitive, point, (uint32_t)sphere);
#else
    const Vec3<float> albedo = load_albedo<float>(s, (uint32_t)sphere);
#endif
    out = first_hit(point, t, albedo, (uint32_t)sphere);
  }
}

}  // namespace RT_NS
