// title: three kernels
// idea: as with a library of contractions: the gradient, the factors of each point, the transposed gradient, each an
//       efficient kernel. Three numbers a point go through memory four times: 20 numbers instead of the 8 of the operator
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * max(1, 256 // (n * n)) * n * n * (2 * (n // 2) + 1)
// steps: 3
// scratch: 3 * bytes * elements * n * n * n
// constant: d
// source: own; the operator is BK5 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "diffusion.cuh"
#include "divergence.cuh"

using rt::Axis;
using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    diffusion(const Real* u, const Real*, const Real*, Real*, Real* flux, long long elements) {
  extern __shared__ double shared[];
  const long long points = elements * rt::kSize;
  rt::gradient_lines((Real*)shared, u, flux, flux + points, flux + 2 * points, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    diffusion_2(const Real*, const Real* __restrict__ g, const Real*, Real*, Real* flux, long long elements) {
  const long long points = elements * rt::kSize;
  rt::for_lines(elements, [&](const rt::Line& line) {
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const long long at = line.global<Axis::x>() + l * rt::kPlaneSize, element = at / rt::kSize;
      Real *x = flux + at, *y = x + points, *z = y + points;
      rt::weigh(*x, *y, *z, g + at + 5 * element * rt::kSize);
    }
  });
}

extern "C" __global__ void __launch_bounds__(256)
    diffusion_3(const Real*, const Real*, const Real*, Real* v, const Real* flux, long long elements) {
  extern __shared__ double shared[];
  Real* share = (Real*)shared;
  const long long points = elements * rt::kSize;
  rt::Values x[rt::kTurns];
  rt::for_lines(elements, [&](const rt::Line& line) {
    const Real* from = flux + line.global<Axis::x>();
    rt::Values values;
    rt::read_line<rt::kPlaneSize>(x[line.turn], from);
    rt::read_line<rt::kPlaneSize>(values, from + points);
    rt::write_shared<Axis::x>(share, values, line);
    rt::read_line<rt::kPlaneSize>(values, from + 2 * points);
    rt::write_shared<Axis::x>(share + rt::kBuffer, values, line);
  });
  __syncthreads();
  rt::add_divergence(share, x, v, elements);
}
