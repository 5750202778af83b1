// v = sum over a, b of D_a^T (g_ab D_b u) on elements of n^3 points.
//   u, v  [elements][n][n][n]     g  [elements][6][n][n][n]: xx, xy, xz, yy, yz, zz
#pragma once
#include "../contraction/contraction.cuh"

namespace rt {

// The symmetric matrix of a point times its gradient. g: at the point, with factors kSize apart.
RT_DEVICE void weigh(Real& x, Real& y, Real& z, const Real* __restrict__ g) {
  const Real xx = g[0], xy = g[kSize], xz = g[2 * kSize], yy = g[3 * kSize], yz = g[4 * kSize], zz = g[5 * kSize];
  const Real a = x, b = y, c = z;
  x = multiply_add(xz, c, multiply_add(xy, b, xx * a));
  y = multiply_add(yz, c, multiply_add(yy, b, xy * a));
  z = multiply_add(zz, c, multiply_add(yz, b, xz * a));
}

}  // namespace rt
