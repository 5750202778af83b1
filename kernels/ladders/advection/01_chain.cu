// title: two kernels
// idea: the gradient, then velocity times gradient; three numbers per point go through memory
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * max(1, 256 // (n * n)) * n * n * (n + 1)
// steps: 2
// scratch: 3 * 8 * elements * n * n * n
// constant: d
// needs: sm_75+
// source: own
#include "advection.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    advection(const Real* u, const Real*, const Real*, Real*, Real* gradient, long long elements) {
  extern __shared__ double shared[];
  long long points = elements * rt::kSize;
  rt::gradient_lines((Real*)shared, u, gradient, gradient + points, gradient + 2 * points, elements);
}

extern "C" __global__ void __launch_bounds__(256) advection_2(const Real*, const Real* __restrict__ c, const Real*,
                                                              Real* v, const Real* gradient, long long elements) {
  long long points = elements * rt::kSize;
  rt::for_lines(elements, [&](const rt::Line& line, int) {
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      int at = line.global<rt::Axis::x>(l);
      const Real* from = gradient + line.origin() + at;
      v[line.origin() + at] = rt::along_velocity(from[0], from[points], from[2 * points], c + line.origin(3) + at);
    }
  });
}
