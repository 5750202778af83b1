// title: fused, one line per thread
// idea: the gradient stays in registers and shared memory, so that 5 instead of 11 numbers per point are moved:
//       (6 n + 5) / (5 b) FLOP per byte (b bytes a number) instead of (6 n + 5) / (11 b)
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * max(1, 256 // (n * n)) * n * n * (2 * (n // 2) + 1)
// constant: d
// source: own
#define RT_OPERATOR_COPIES 3  // one for each axis
#include "../contraction/fused.cuh"
#include "advection.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    advection(const Real* u, const Real* __restrict__ c, const Real*, Real* v, long long elements) {
  extern __shared__ double shared[];
  const Real *share = (const Real*)shared, *share_z = share + rt::kBuffer;
  rt::Values x[rt::kTurns];
  rt::keep_gradient((Real*)shared, x, u, elements);
  rt::for_lines(elements, [&](const rt::Line& line) {
    const long long first = line.global<rt::Axis::x>();
    const Real* velocity = c + first + 2 * (first / rt::kSize * rt::kSize);
    rt::Values out;
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const int at = line.shared<rt::Axis::x>() + l * rt::kPlane;
      out[l] = rt::along_velocity(x[line.turn][l], share[at], share_z[at], velocity + l * rt::kPlaneSize);
    }
    rt::write_line<rt::kPlaneSize>(v + first, out);
  });
}
