// What the CPU kernels read: plain pointers, owned by NumPy arrays. No std types here or below: these
// headers are compiled once per instruction set.
#pragma once
#include "../core/structs.h"
#include "cancel.h"

namespace rt {

struct SceneView {
  const Node* nodes;       // null without spheres
  const float* spheres;    // x, y, z, radius in leaf order
  const int32_t* order;    // leaf position -> sphere
  const float* color;      // linear RGB
  const int32_t* color_id;
  const int32_t* material_id;
  const Camera* camera;
  const Light* lights;
  const Material* materials;
  const Frame* frame;
  float* film;             // RGBA sums of the crop, row-major
  int64_t sphere_count;
  const LargeSphere* large;  // Frame::large_count of them; the last spheres in leaf order
  Cancel* cancel;
};

}  // namespace rt

namespace RT_NS {

RT_HD bool is_cancelled(const rt::SceneView& s) { return s.cancel->requested(); }

}  // namespace RT_NS
