// title: fused, one line per thread
// idea: an element stays in shared memory from the first axis to the last, so that 3 instead of 7 numbers
//       per point are moved; along z both interpolations are done in registers
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * max(1, 256 // (n * n)) * n * n * (n + 1)
// constant: b
// needs: sm_75+
// source: own; the operator is BK1 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "mass.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    mass(const Real* u, const Real* w, const Real*, Real* v, long long elements) {
  extern __shared__ double shared[];
  rt::mass_lines((Real*)shared, u, w, v, elements);
}
