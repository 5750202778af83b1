// title: contiguous pieces
// idea: elements and weights come as contiguous pieces; a thread replaces its lines in shared memory axis by
//       axis, with a copy of the operator for each of the six products
// block: 256
// threads: min(256, 32 * ceil(max(1, 256 // (n * n)) * n * n / 32))
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * (max(1, 256 // (n * n)) * n * n * (n + 1) + 8)
// constant: b
// needs: sm_75+
// source: own; the operator is BK1 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "staged.cuh"

using rt::Real;
constexpr int kLines = 256;
constexpr int kThreads = rt::threads_for(kLines);
using Operator = rt::StagedMass<kThreads, rt::group_for(kLines), false>;

extern "C" __global__ void __launch_bounds__(kThreads, rt::blocks_for(kThreads, 8 * (int)sizeof(Real)))
    mass(const Real* u, const Real* w, const Real*, Real* v, long long elements) {
  extern __shared__ uint4 shared[];
  Operator::run(shared, u, w, v, elements);
}
