// v = c_0 D_0 u + c_1 D_1 u + c_2 D_2 u on elements of n^3 points.
//   u, v  [elements][n][n][n]     c  [elements][3][n][n][n]
#pragma once
#include "../contraction/contraction.cuh"

namespace rt {

// The velocity at a point, of which c is the first component, times the gradient there.
RT_DEVICE Real along_velocity(Real x, Real y, Real z, const Real* __restrict__ c) {
  return multiply_add(c[2 * kSize], z, multiply_add(c[kSize], y, c[0] * x));
}

}  // namespace rt
