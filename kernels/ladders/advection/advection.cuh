// v = c_0 D_0 u + c_1 D_1 u + c_2 D_2 u on elements of n^3 points.
//   u, v  [elements][n][n][n]     c  [elements][3][n][n][n]
#pragma once
#ifndef RT_OPERATOR_COPIES
#define RT_OPERATOR_COPIES 3  // one for each axis
#endif
#include "../contraction/lines.cuh"

namespace rt {

RT_DEVICE Real along_velocity(Real x, Real y, Real z, const Real* __restrict__ c) {
  return multiply_add(c[2 * kSize], z, multiply_add(c[kSize], y, c[0] * x));
}

RT_DEVICE void advection_lines(Real* share, const Real* u, const Real* __restrict__ c, Real* v, long long elements) {
  Values x[kTurns];
  gradient_kept(share, x, u, elements);
  for_lines(elements, [&](const Line& line, int turn) {
    Values out;
#pragma unroll
    for (int l = 0; l < kN; l++) {
      int at = line.shared<Axis::x>(l);
      out[l] = along_velocity(x[turn][l], share[at], share[kElements * kShare + at],
                              c + line.origin(3) + line.global<Axis::x>(l));
    }
    write_global<Axis::x>(v + line.origin(), out, line);
  });
}

}  // namespace rt
