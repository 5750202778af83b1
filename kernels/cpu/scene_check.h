// Whether a scene's arrays are safe to read: kernels follow the numbers in them and check nothing.
#pragma once
#include "scene_view.h"

namespace rt {

// lengths of the arrays of a scene; materials: how many its spheres' numbers ask for
struct SceneLengths {
  int64_t nodes, spheres, colors, color_ids, material_ids, large, emitters, opacities, texels, materials;
  int64_t color_rows = 0;  // of which a solid has the colour at its end
  int64_t records = 0;     // with the rows of numbers behind them
};

// All return nullptr, or what is wrong as a sentence.

// Every number that is used as an index, once for a scene: colour and material ids, the order of the
// spheres, and the nodes, whose children must follow them, so that a walk ends. Sets lengths.materials.
const char* scene_problem(const SceneView& scene, SceneLengths& lengths);

// Lengths and modes against the frame, for every call of a kernel, on the host or a device; a scene that was
// checked is safe to read under a view that passes. lights, materials: lengths of the view's tables.
const char* view_problem(const Frame& frame, const SceneLengths& lengths, int64_t lights, int64_t materials);

}  // namespace rt
