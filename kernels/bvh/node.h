// Reading a Node: its cells and slots. Traversals unpack the boxes themselves, each in the order that suits it.
#pragma once
#include "../core/structs.h"
#include "../core/number.h"

namespace RT_NS {

// "no sphere" among leaf positions, which stay below it
constexpr uint32_t kNoPrim = ~0u >> (32 - RT_POSITION_BITS);

// Levels of nodes in any tree: kMaxSahDepth + 1 split by area (build.cpp), then eighths by number, ten
// of which bring 2^31 spheres down to a leaf. At each level at most 7 siblings wait while one is visited.
constexpr int kMaxLevels = 36;
constexpr int kMaxWaiting = 7 * kMaxLevels + 1;

// cell size of the grid along an axis
RT_HD float node_cell(const rt::Node& n, int axis) { return as_float((uint32_t)n.exponent[axis] << 23); }

RT_HD uint32_t leaf_begin(const rt::Node& n, int slot) { return n.sphere_base + (slot ? n.leaf_end[slot - 1] : 0u); }
RT_HD uint32_t leaf_end(const rt::Node& n, int slot) { return n.sphere_base + n.leaf_end[slot]; }

// A box test must not drop a sphere whose own test, rounding included, would accept the ray. The
// perpendicular offset in sphere_chord is wrong by at most 6 half-ulps of the distance to the centre in
// each component; 32 half-ulps leave room for planes and directions that were rounded themselves.
constexpr float kBoxError = 1.9073486e-6f;  // 2^-19, relative to the farthest corner's distance

// 1 / a component of a direction; a zero would give 0 * infinity on a slab's plane, 1e-18 keeps products finite
RT_HD float safe_inverse(float d) { return 1.0f / (abs_(d) > 1e-18f ? d : (d < 0.0f ? -1e-18f : 1e-18f)); }

}  // namespace RT_NS
