// title: fused, one line per thread
// idea: the gradient stays in registers and shared memory, so that 8 instead of 20 numbers per point are moved;
//       at most 64 registers per thread where this does not spill much, so that more elements are in flight
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * max(1, 256 // (n * n)) * n * n * (n + 1)
// constant: d
// best: n 2 3 4 5 6 7 8 9 10 15 16 float32, n 2 3 4 5 7 8 10 15 16 float64
// needs: sm_75+
// source: own; the operator is BK5 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "diffusion.cuh"

using rt::Real;
constexpr int kBlocks = rt::kN > 2 && (sizeof(Real) == 4 || rt::kN < 8) ? 4 : 0;  // of a multiprocessor; 0: no limit

extern "C" __global__ void __launch_bounds__(256, kBlocks)
    diffusion(const Real* u, const Real* __restrict__ g, const Real*, Real* v, long long elements) {
  extern __shared__ double shared[];
  rt::diffusion_lines((Real*)shared, u, g, v, elements);
}
