// Sums and minima over the 32 lanes of a warp, known to every lane.
#pragma once
#include "../core/compat.h"

namespace rt {

RT_DEVICE unsigned warp_add(unsigned value) {
#if RT_WARP_REDUCES
  return __reduce_add_sync(~0u, value);
#else
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  return value;
#endif
}
// of int or unsigned
template <class T> RT_DEVICE T warp_least(T value) {
#if RT_WARP_REDUCES
  return __reduce_min_sync(~0u, value);
#else
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value = min(value, (T)__shfl_xor_sync(~0u, value, distance));
  return value;
#endif
}

}  // namespace rt
