// Reading a Node: the one place that knows how boxes and slots are packed.
#pragma once
#include "../core/structs.h"
#include "../core/number.h"

namespace RT_NS {

// cell size of the grid along an axis
RT_HD float node_cell(const rt::Node& n, int axis) { return as_float((uint32_t)n.exponent[axis] << 23); }

RT_HD uint32_t leaf_begin(const rt::Node& n, int slot) {
  return n.sphere_base + (slot ? n.leaf_end[slot - 1] : 0u);
}
RT_HD uint32_t leaf_end(const rt::Node& n, int slot) { return n.sphere_base + n.leaf_end[slot]; }

// A box test must not drop a sphere whose own test, rounding included, would accept the ray. The
// perpendicular offset in sphere_chord is wrong by at most 6 half-ulps of the distance to the centre in
// each component; 32 half-ulps leave room for planes and directions that were rounded themselves.
constexpr float kBoxError = 1.9073486e-6f;  // 2^-19, relative to the farthest corner's distance

}  // namespace RT_NS
