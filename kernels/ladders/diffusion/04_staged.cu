// title: contiguous pieces
// idea: a block copies a group of elements as one contiguous piece to shared memory, with as many threads as
//       lines; a copy of the operator for each of the six products keeps it an operand of the multiply-adds,
//       so that no n needs more registers than its lines
// block: 256
// threads: min(256, 32 * ceil(max(1, 256 // (n * n)) * n * n / 32))
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * (max(1, 256 // (n * n)) * n * n * (n + 1) + 8)
// constant: d
// needs: sm_75+
// source: own; the operator is BK5 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "staged.cuh"

using rt::Real;
constexpr int kLines = 256;
constexpr int kThreads = rt::threads_for(kLines);
using Operator = rt::StagedDiffusion<kThreads, rt::group_for(kLines), false, false>;

extern "C" __global__ void __launch_bounds__(kThreads, rt::blocks_for(kThreads, 8 * (int)sizeof(Real)))
    diffusion(const Real* u, const Real* __restrict__ g, const Real*, Real* v, long long elements) {
  extern __shared__ uint4 shared[];
  Operator::run(shared, u, g, v, elements);
}
