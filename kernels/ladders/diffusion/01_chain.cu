// title: three kernels
// idea: as with a library of contractions: the gradient, the factors at each point, the transposed
//       gradient, each an efficient kernel; three numbers per point go through memory twice
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * max(1, 256 // (n * n)) * n * n * (n + 1)
// steps: 3
// scratch: 3 * 8 * elements * n * n * n
// constant: d
// needs: sm_75+
// source: own
#include "diffusion.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    diffusion(const Real* u, const Real*, const Real*, Real*, Real* flux, long long elements) {
  extern __shared__ double shared[];
  long long points = elements * rt::kSize;
  rt::gradient_lines((Real*)shared, u, flux, flux + points, flux + 2 * points, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    diffusion_2(const Real*, const Real* __restrict__ g, const Real*, Real*, Real* flux, long long elements) {
  long long points = elements * rt::kSize;
  rt::for_lines(elements, [&](const rt::Line& line, int) {
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      int at = line.global<rt::Axis::x>(l);
      Real* to = flux + line.origin() + at;
      Real x = to[0], y = to[points], z = to[2 * points];
      rt::weigh(x, y, z, g + line.origin(6) + at);
      to[0] = x;
      to[points] = y;
      to[2 * points] = z;
    }
  });
}

extern "C" __global__ void __launch_bounds__(256)
    diffusion_3(const Real*, const Real*, const Real*, Real* v, const Real* flux, long long elements) {
  extern __shared__ double shared[];
  Real* share = (Real*)shared;
  long long points = elements * rt::kSize;
  rt::Values x[rt::kTurns];
  rt::for_lines(elements, [&](const rt::Line& line, int turn) {
    rt::Values values;
    rt::read_global<rt::Axis::x>(x[turn], flux + line.origin(), line);
    rt::read_global<rt::Axis::x>(values, flux + points + line.origin(), line);
    rt::write_shared<rt::Axis::x>(share, values, line);
    rt::read_global<rt::Axis::x>(values, flux + 2 * points + line.origin(), line);
    rt::write_shared<rt::Axis::x>(share + rt::kElements * rt::kShare, values, line);
  });
  __syncthreads();
  rt::divergence_kept(share, x, v, elements);
}
