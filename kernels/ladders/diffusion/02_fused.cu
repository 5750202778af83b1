// title: fused, one line per thread
// idea: the gradient stays in registers and shared memory from the first product to the last, so that 8 instead of 20 numbers
//       per point are moved: (12 n + 15) / (8 b) FLOP per byte (b bytes a number) instead of (12 n + 15) / (20 b)
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * max(1, 256 // (n * n)) * n * n * (2 * (n // 2) + 1)
// constant: d
// source: own; the operator is BK5 of Fischer et al. 2020, Scalability of high-performance PDE solvers
// One for each product, or for each axis where six would exceed the constant cache of 2 KB.
#define RT_OPERATOR_COPIES (RT_N < 9 ? 6 : RT_N < 15 ? 3 : 1)
#include "diffusion.cuh"
#include "divergence.cuh"

using rt::Axis;
using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    diffusion(const Real* u, const Real* __restrict__ g, const Real*, Real* v, long long elements) {
  extern __shared__ double shared[];
  Real *share = (Real*)shared, *share_z = share + rt::kBuffer;
  rt::Values x[rt::kTurns];
  rt::keep_gradient(share, x, u, elements);
  rt::for_lines(elements, [&](const rt::Line& line) {
    const long long first = line.global<Axis::x>();
    const Real* factors = g + first + 5 * (first / rt::kSize * rt::kSize);
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const int at = line.shared<Axis::x>() + l * rt::kPlane;
      rt::weigh(x[line.turn][l], share[at], share_z[at], factors + l * rt::kPlaneSize);
    }
  });
  __syncthreads();
  rt::add_divergence(share, x, v, elements);
}
