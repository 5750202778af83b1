#include "quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rt {
namespace {

// centre -+ radius has one rounding: one ulp outwards
float below(float a) { return a - std::fabs(a) * 1.1920929e-7f; }
float above(float a) { return a + std::fabs(a) * 1.1920929e-7f; }

float cell_of(int exponent) {
  uint32_t bits = (uint32_t)exponent << 23;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

// smallest grid of 255 cells from `lo` whose last line, as computed by readers, is not below `hi`
int grid_exponent(float lo, float hi) {
  int e = 1;
  if (hi > lo) e = std::max(1, std::ilogb((hi - lo) / 255.0f) + 127);
  while (e < 254 && lo + 255.0f * cell_of(e) < hi) ++e;
  return e;
}

// exact product, one rounding, as computed by readers
uint8_t quantize_down(float v, float origin, float cell) {
  int q = (int)std::fmin(255.0f, std::fmax(0.0f, std::floor((v - origin) / cell)));
  while (q > 0 && origin + (float)q * cell > v) --q;
  return (uint8_t)q;
}
uint8_t quantize_up(float v, float origin, float cell) {
  int q = (int)std::fmin(255.0f, std::fmax(0.0f, std::ceil((v - origin) / cell)));
  while (q < 255 && origin + (float)q * cell < v) ++q;
  return (uint8_t)q;
}

}  // namespace

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
