// title: two kernels
// idea: as with a library of contractions: the gradient, then velocity times gradient, each an efficient kernel. The three
//       derivatives of a point go through memory, 11 numbers a point instead of the 5 of the operator
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * max(1, 256 // (n * n)) * n * n * (2 * (n // 2) + 1)
// steps: 2
// scratch: 3 * bytes * elements * n * n * n
// constant: d
// source: own
#include "../contraction/lines.cuh"
#include "advection.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    advection(const Real* u, const Real*, const Real*, Real*, Real* gradient, long long elements) {
  extern __shared__ double shared[];
  const long long points = elements * rt::kSize;
  rt::gradient_lines((Real*)shared, u, gradient, gradient + points, gradient + 2 * points, elements);
}

extern "C" __global__ void __launch_bounds__(256) advection_2(const Real*, const Real* __restrict__ c, const Real*,
                                                              Real* v, const Real* gradient, long long elements) {
  const long long points = elements * rt::kSize;
  rt::for_lines(elements, [&](const rt::Line& line) {
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const long long at = line.global<rt::Axis::x>() + l * rt::kPlaneSize, element = at / rt::kSize;
      const Real *from = gradient + at, *velocity = c + at + 2 * element * rt::kSize;
      v[at] = rt::along_velocity(from[0], from[points], from[2 * points], velocity);
    }
  });
}
