// title: three kernels
// idea: interpolation, weights, transposed interpolation, each an efficient kernel; the values at the
//       quadrature points go through memory twice
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * max(1, 256 // (n * n)) * n * n * (n + 1)
// steps: 3
// scratch: 8 * elements * n * n * n
// constant: b
// needs: sm_75+
// source: own
#include "mass.cuh"

using rt::Real;

template <bool kTransposed> __device__ void all_axes(const Real* from, Real* to, long long elements) {
  extern __shared__ double shared[];
  rt::interpolate<kTransposed>((Real*)shared, from, elements, [&](const rt::Line& line, rt::Values& values) {
    rt::write_global<rt::Axis::z>(to + line.origin(), values, line);
  });
}

extern "C" __global__ void __launch_bounds__(256)
    mass(const Real* u, const Real*, const Real*, Real*, Real* points, long long elements) {
  all_axes<false>(u, points, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    mass_2(const Real*, const Real* w, const Real*, Real*, Real* points, long long elements) {
  rt::for_lines(elements, [&](const rt::Line& line, int) {
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      long long at = line.origin() + line.global<rt::Axis::x>(l);
      points[at] *= w[at];
    }
  });
}

extern "C" __global__ void __launch_bounds__(256)
    mass_3(const Real*, const Real*, const Real*, Real* v, const Real* points, long long elements) {
  all_axes<true>(points, v, elements);
}
