// title: contiguous pieces
// idea: elements come as a contiguous piece, with as many threads as lines and a copy of the operator for
//       each axis
// block: 256
// threads: min(256, 32 * ceil(max(1, 256 // (n * n)) * n * n / 32))
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * (max(1, 256 // (n * n)) * n * n * (n + 1) + 8)
// constant: d
// needs: sm_75+
// source: own
#include "staged.cuh"

using rt::Real;
constexpr int kLines = 256;
constexpr int kThreads = rt::threads_for(kLines);
using Operator = rt::StagedAdvection<kThreads, rt::group_for(kLines)>;

extern "C" __global__ void __launch_bounds__(kThreads, rt::blocks_for(kThreads, 8 * (int)sizeof(Real)))
    advection(const Real* u, const Real* __restrict__ c, const Real*, Real* v, long long elements) {
  extern __shared__ uint4 shared[];
  Operator::run(shared, u, c, v, elements);
}
