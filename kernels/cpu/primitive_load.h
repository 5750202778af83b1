// Primitives out of the records of a scene, which lie in leaf order.
#pragma once
#include "../geom/primitive.h"
#include "scene_view.h"
#include "wide.h"

namespace RT_NS {

RT_HD Primitive<float> load_primitive(const rt::SceneView& s, uint32_t prim) {
  const float* record = s.spheres + 4 * (size_t)prim;
  return {vec3(record[0], record[1], record[2]), record[3]};
}

// one for each lane
RT_HD Primitive<FW> gather_primitives(const rt::SceneView& s, UW prim) {
  UW at = prim << 2;
  return {{gather(s.spheres, at), gather(s.spheres + 1, at), gather(s.spheres + 2, at)}, gather(s.spheres + 3, at)};
}

// the eight from `begin` on
RT_HD Primitive<F8> load_primitives(const rt::SceneView& s, uint32_t begin) {
  const float* records = s.spheres + 4 * (size_t)begin;
  float tail[32];
  if (begin + 8 > s.sphere_count) {  // eight records are read, whatever the slot holds
    memset(tail, 0, sizeof tail);
    memcpy(tail, records, 16 * (size_t)(s.sphere_count - begin));
    records = tail;
  }
  Primitive<F8> p;
  load_transposed(records, p.center.x, p.center.y, p.center.z, p.radius);
  return p;
}

}  // namespace RT_NS
