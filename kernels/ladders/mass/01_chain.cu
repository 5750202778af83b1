// title: three kernels
// idea: as with a library of contractions: interpolation, weights, transposed interpolation, each an efficient kernel. The
//       values at the quadrature points go through memory four times: 7 numbers a point instead of the 3 of the operator
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * max(1, 256 // (n * n)) * n * n * (2 * (n // 2) + 1)
// steps: 3
// scratch: bytes * elements * n * n * n
// constant: b
// source: own; the operator is BK1 of Fischer et al. 2020, Scalability of high-performance PDE solvers
// v = B^T (w B u) on elements of n^3 points, where B applies b along x, y and z; u, w, v [elements][n][n][n].
#define RT_OPERATOR c_b
#define RT_OPERATOR_COPIES 6  // one for each product
#include "../contraction/fused.cuh"

using rt::Axis;
using rt::Real;

template <bool kTransposed> __device__ __forceinline__ void all_axes(Real* to, const Real* from, long long elements) {
  extern __shared__ double shared[];
  Real* share = (Real*)shared;
  rt::for_lines(elements, [&](const rt::Line& line) {
    rt::Values in, out;
    rt::read_line<rt::kPlaneSize>(in, from + line.global<Axis::x>());
    rt::apply<0, kTransposed>(out, in);
    rt::write_shared<Axis::x>(share, out, line);
  });
  __syncthreads();
  rt::contract_shared<Axis::y, 1, kTransposed>(share, share, elements);
  __syncthreads();
  rt::for_lines(elements, [&](const rt::Line& line) {
    rt::Values in, out;
    rt::read_shared<Axis::z>(in, share, line);
    rt::apply<2, kTransposed>(out, in);
    rt::write_line<1>(to + line.global<Axis::z>(), out);
  });
}

extern "C" __global__ void __launch_bounds__(256)
    mass(const Real* u, const Real*, const Real*, Real*, Real* points, long long elements) {
  all_axes<false>(points, u, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    mass_2(const Real*, const Real* w, const Real*, Real*, Real* points, long long elements) {
  rt::for_lines(elements, [&](const rt::Line& line) {
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const long long at = line.global<Axis::x>() + l * rt::kPlaneSize;
      points[at] *= w[at];
    }
  });
}

extern "C" __global__ void __launch_bounds__(256)
    mass_3(const Real*, const Real*, const Real*, Real* v, const Real* points, long long elements) {
  all_axes<true>(v, points, elements);
}
