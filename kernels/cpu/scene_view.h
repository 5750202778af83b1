// What the CPU kernels read: plain pointers, owned by NumPy arrays. No std types here or below: these
// headers are compiled once per instruction set.
#pragma once
#include "../integrator/scene.h"
#include "cancel.h"

namespace rt {

struct SceneView : SceneTables {
  const Node* nodes;     // null without spheres
  const float* spheres;  // records in leaf order, as geom/primitive.h unpacks them
  bool has_capsules;     // records are those of capsules
  int64_t sphere_count;
  float* film;           // RGBA sums of the crop, row-major
  Cancel* cancel;
};

}  // namespace rt

namespace RT_NS {

RT_HD bool is_cancelled(const rt::SceneView& s) { return s.cancel->requested(); }

}  // namespace RT_NS
