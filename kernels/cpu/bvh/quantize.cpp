#include "quantize.h"

#include <cstring>

#include "../../bvh/quantize.h"

namespace rt {

Node make_node(const NodeChild* children, int count, uint32_t child_base, uint32_t sphere_base) {
  Node n;
  std::memset(&n, 0, sizeof n);
  n.child_base = child_base;
  n.sphere_base = sphere_base;
  Box all;
  for (int i = 0; i < count; ++i) all.grow(children[i].box);
  uint8_t* lo[3] = {n.lo_x, n.lo_y, n.lo_z};
  uint8_t* hi[3] = {n.hi_x, n.hi_y, n.hi_z};
  for (int a = 0; a < 3; ++a) {
    n.origin[a] = below(all.lo()[a]);
    n.exponent[a] = (uint8_t)grid_exponent(n.origin[a], above(all.hi[a]));
    float cell = cell_of(n.exponent[a]);
    for (int i = 0; i < count; ++i) {
      lo[a][i] = quantize_down(below(children[i].box.lo()[a]), n.origin[a], cell);
      hi[a][i] = quantize_up(above(children[i].box.hi[a]), n.origin[a], cell);
    }
  }
  int spheres = 0;
  for (int i = 0; i < 8; ++i) {
    if (i < count) {
      if (children[i].inner) n.inner |= (uint8_t)(1 << i);
      spheres += children[i].spheres;
    } else {
      n.lo_x[i] = 255;  // an empty slot is an inverted box; hi stays 0
    }
    n.leaf_end[i] = (uint8_t)spheres;
  }
  return n;
}

}  // namespace rt
