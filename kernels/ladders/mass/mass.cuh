// v = B^T (w B u) on elements of n^3 points, where B applies b along x, y and z.
//   u, w, v  [elements][n][n][n]
#pragma once
#define RT_OPERATOR c_b
#ifndef RT_OPERATOR_COPIES
#define RT_OPERATOR_COPIES 6  // one for each product
#endif
#include "../contraction/lines.cuh"

namespace rt {

// In place: along y, the lines of share.
template <bool kTransposed> RT_DEVICE void along_y(Real* share, long long elements) {
  for_lines(elements, [&](const Line& line, int) {
    Values in, out;
    read_shared<Axis::y>(in, share, line);
    apply<kTransposed, kTransposed ? 4 : 1>(out, in);
    write_shared<Axis::y>(share, out, line);
  });
}

// Applies b along x from global memory to share, along y, and along z into registers of z lines, which
// each(line, values) receives. With barriers between axes.
template <bool kTransposed, class Each>
RT_DEVICE void interpolate(Real* share, const Real* from, long long elements, Each each) {
  for_lines(elements, [&](const Line& line, int) {
    Values in, out;
    read_global<Axis::x>(in, from + line.origin(), line);
    apply<kTransposed, kTransposed ? 3 : 0>(out, in);
    write_shared<Axis::x>(share, out, line);
  });
  __syncthreads();
  along_y<kTransposed>(share, elements);
  __syncthreads();
  for_lines(elements, [&](const Line& line, int) {
    Values in, out;
    read_shared<Axis::z>(in, share, line);
    apply<kTransposed, kTransposed ? 5 : 2>(out, in);
    each(line, out);
  });
}

RT_DEVICE void mass_lines(Real* share, const Real* u, const Real* w, Real* v, long long elements) {
  interpolate<false>(share, u, elements, [&](const Line& line, Values& values) {
    Values weights, out;
    read_global<Axis::z>(weights, w + line.origin(), line);
#pragma unroll
    for (int l = 0; l < kN; l++) values[l] *= weights[l];
    apply<true, 5>(out, values);  // back along the same line
    write_shared<Axis::z>(share, out, line);
  });
  __syncthreads();
  along_y<true>(share, elements);
  __syncthreads();
  for_lines(elements, [&](const Line& line, int) {
    Values in, out;
    read_shared<Axis::x>(in, share, line);
    apply<true, 3>(out, in);
    write_global<Axis::x>(v + line.origin(), out, line);
  });
}

}  // namespace rt
