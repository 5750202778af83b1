// title: contiguous pieces
// idea: a block copies a group of elements as one contiguous piece to shared memory, a thread computes lines in
//       registers, and derivatives leave through shared memory in 16-byte packs, so that every n uses whole
//       sectors of memory; a copy of the operator for each axis keeps it an operand of the multiply-adds
// block: 256
// threads: min(256, 32 * ceil(max(1, 256 // (n * n)) * n * n / 32))
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * (1 + min(1, 8 // (n + 1)) + min(1, n * bytes - 32 * (n * bytes // 32))) * (max(1, 256 // (n * n)) * n * n * (n + 1) + 8)
// constant: d
// needs: sm_75+
// source: own; lines as in Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "staged.cuh"

using rt::Real;
constexpr int kLines = 256;
constexpr int kThreads = rt::threads_for(kLines);
using Gradient = rt::StagedGradient<kThreads, rt::group_for(kLines), (rt::kN < 8), rt::kN * sizeof(Real) % 32 != 0>;

extern "C" __global__ void __launch_bounds__(kThreads, rt::blocks_for(kThreads, 8 + 10 * (int)sizeof(Real)))
    contraction(const Real* u, const Real*, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Gradient::run(shared, u, gx, gy, gz, elements);
}
