// Boxes on the grid of a Node, for all builders: eight bits per side, never smaller than the box.
#pragma once
#include "../core/number.h"

namespace RT_NS {

// centre -+ radius has one rounding: one ulp outwards
RT_HD float below(float a) { return a - abs_(a) * 1.1920929e-7f; }
RT_HD float above(float a) { return a + abs_(a) * 1.1920929e-7f; }

RT_HD float cell_of(int exponent) { return as_float((uint32_t)exponent << 23); }

// smallest grid of 255 cells from `lo` whose last line, as computed by readers, is not below `hi`
RT_HD int grid_exponent(float lo, float hi) {
  const int power = hi > lo ? (int)(as_uint((hi - lo) / 255.0f) >> 23) : 0;  // 2^(power - 127) at most the quotient
  int e = power < 1 ? 1 : power > 254 ? 254 : power;
  while (e < 254 && lo + 255.0f * cell_of(e) < hi) ++e;
  return e;
}

// exact product, one rounding, as computed by readers
RT_HD uint8_t quantize_down(float v, float origin, float cell) {
  int q = (int)min_(255.0f, max_(0.0f, floor_((v - origin) / cell)));
  while (q > 0 && origin + (float)q * cell > v) --q;
  return (uint8_t)q;
}
RT_HD uint8_t quantize_up(float v, float origin, float cell) {
  int q = (int)min_(255.0f, max_(0.0f, -floor_((origin - v) / cell)));
  while (q < 255 && origin + (float)q * cell < v) ++q;
  return (uint8_t)q;
}

}  // namespace RT_NS
