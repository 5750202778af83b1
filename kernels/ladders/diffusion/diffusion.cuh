// v = sum over a, b of D_a^T (g_ab D_b u) on elements of n^3 points.
//   u, v  [elements][n][n][n]     g  [elements][6][n][n][n]: xx, xy, xz, yy, yz, zz
#pragma once
#include "../contraction/lines.cuh"

namespace rt {

// The symmetric matrix of a point times its gradient. g: at the point, with factors kSize apart.
RT_DEVICE void weigh(Real& x, Real& y, Real& z, const Real* __restrict__ g) {
  Real xx = g[0], xy = g[kSize], xz = g[2 * kSize], yy = g[3 * kSize], yz = g[4 * kSize], zz = g[5 * kSize];
  Real a = x, b = y, c = z;
  x = multiply_add(xz, c, multiply_add(xy, b, xx * a));
  y = multiply_add(yz, c, multiply_add(yy, b, xy * a));
  z = multiply_add(zz, c, multiply_add(yz, b, xz * a));
}

// v = D_x^T x + D_y^T y + D_z^T z, with x in registers, y and z in shared memory from `share` on.
RT_DEVICE void divergence_kept(Real* share, const Values (&x)[kTurns], Real* v, long long elements) {
  Real* share_z = share + kElements * kShare;
  for_lines(elements, [&](const Line& line, int) {
    Values in, out;
    read_shared<Axis::y>(in, share, line);
    apply<true>(out, in);
    write_shared<Axis::y>(share, out, line);  // in place
    read_shared<Axis::z>(in, share_z, line);
    apply<true>(out, in);
    write_shared<Axis::z>(share_z, out, line);
  });
  __syncthreads();
  for_lines(elements, [&](const Line& line, int turn) {
    Values out;
    apply<true>(out, x[turn]);
#pragma unroll
    for (int l = 0; l < kN; l++) out[l] += share[line.shared<Axis::x>(l)] + share_z[line.shared<Axis::x>(l)];
    write_global<Axis::x>(v + line.origin(), out, line);
  });
}

RT_DEVICE void diffusion_lines(Real* share, const Real* u, const Real* __restrict__ g, Real* v, long long elements) {
  Values x[kTurns];
  gradient_kept(share, x, u, elements);
  Real* share_z = share + kElements * kShare;
  for_lines(elements, [&](const Line& line, int turn) {
#pragma unroll
    for (int l = 0; l < kN; l++) {
      int at = line.shared<Axis::x>(l);
      weigh(x[turn][l], share[at], share_z[at], g + line.origin(6) + line.global<Axis::x>(l));
    }
  });
  __syncthreads();
  divergence_kept(share, x, v, elements);
}

}  // namespace rt
