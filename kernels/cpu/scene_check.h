// Whether a scene's arrays are safe to read: kernels follow the numbers in them and check nothing.
#pragma once
#include "scene_view.h"

namespace rt {

// lengths of the arrays that a SceneView points to
struct SceneLengths {
  int64_t nodes, colors, color_ids, materials, material_ids, lights, large;
};

// Both return nullptr, or what is wrong as a sentence.

// Lengths and modes against the frame, for every call of a kernel.
const char* lengths_problem(const SceneView& scene, const SceneLengths& lengths);

// Every number that is used as an index, once for a scene: colour and material ids, the order of the
// spheres, and the nodes, whose children must follow them, so that a walk ends.
const char* indices_problem(const SceneView& scene, const SceneLengths& lengths);

}  // namespace rt
