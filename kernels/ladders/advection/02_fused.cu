// title: fused, one line per thread
// idea: the gradient stays in registers and shared memory, so that 5 instead of 11 numbers per point are moved
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * max(1, 256 // (n * n)) * n * n * (n + 1)
// constant: d
// best: n 2 3 4 5 6 7 8 9 10 11 13 14 15 16 float32, n 2 3 4 5 6 7 8 9 10 11 14 float64
// needs: sm_75+
// source: own
#include "advection.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    advection(const Real* u, const Real* __restrict__ c, const Real*, Real* v, long long elements) {
  extern __shared__ double shared[];
  rt::advection_lines((Real*)shared, u, c, v, elements);
}
