// Keys of float32 that are in the order of the numbers, for integer minima and maxima.
#pragma once
#include "compat.h"

namespace RT_NS {

// The key of -x is ~float_key(x). NaN is beyond infinity.
RT_HD uint32_t float_key(float x) {
  const uint32_t bits = as_uint(x);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
RT_HD float key_float(uint32_t key) { return as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

}  // namespace RT_NS
