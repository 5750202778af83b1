// How far spheres are exposed, a stretch of leaf positions at a time.
#pragma once
#include "../integrator/exposure.h"
#include "traverse_single.h"

namespace RT_NS {

struct SceneTree {
  const rt::SceneView& scene;

  template <class Filter>
  RT_HD bool occluded(Vec3<float> o, Vec3<float> d, uint32_t self, float t_max, const Filter& filter) const {
    return RT_NS::occluded(scene, o, d, self, t_max, filter);
  }
};

// out: by number, of the first `count` primitives; begin, end: leaf positions
void exposure_rows(const rt::SceneView& s, rt::Exposure* out, int64_t count, int64_t begin, int64_t end) {
  for (int64_t prim = begin; prim < end && !is_cancelled(s); ++prim) {
    const int32_t number = s.order[prim];
    if (number >= count) continue;
    const Sphere<float> sphere = emitting_sphere(load_primitive(s, (uint32_t)prim));
    out[number] = exposure_of(SceneTree{s}, s, sphere, (uint32_t)prim, (uint32_t)number, 0, 1);
  }
}

}  // namespace RT_NS
