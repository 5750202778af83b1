// title: fused, a line a thread
// idea: the gradient stays in registers and shared memory, so that 5 numbers a point travel, not 11
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: 8 * 2 * max(1, 256 // (n * n)) * n * n * (n + 1)
// constant: d
// needs: sm_80+
// source: own
#include "advection.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    advection(const Real* u, const Real* __restrict__ c, const Real*, Real* v, long long elements) {
  extern __shared__ double shared[];
  rt::advection_lines((Real*)shared, u, c, v, elements);
}
