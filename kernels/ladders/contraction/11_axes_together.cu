// title: axes together
// idea: a thread computes its lines along x, y and z at once, so that each value of the operator, a constant operand,
//       serves three multiply-adds, and a single copy of it fits the constant cache
// block: 256
// threads: min(256, 32 * ceil(max(1, 256 // (n * n)) * n * n / 32))
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * (1 + min(1, 8 // (n + 1)) + min(1, n * bytes - 32 * (n * bytes // 32))) * (max(1, 256 // (n * n)) * n * n * (n + 1) + 8)
// constant: d
// needs: sm_75+
// source: own; lines as in Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "together.cuh"

using rt::Real;
constexpr int kLines = 256;
constexpr int kThreads = rt::threads_for(kLines);
constexpr int kGroup = rt::group_for(kLines);
constexpr bool kStageX = rt::kN < 8, kStageY = rt::kN * sizeof(Real) % 32 != 0;
#ifndef RT_REGISTERS
#define RT_REGISTERS (24 + 3 * rt::kN * (int)sizeof(Real) / 4)
#endif

template <bool kOneTurn> struct Choice {
  using Gradient = rt::TogetherGradient<kThreads, kGroup, kStageX, kStageY>;
};
template <> struct Choice<false> {  // n = 20: more lines than threads
  using Gradient = rt::StagedGradient<kThreads, kGroup, kStageX, kStageY>;
};

extern "C" __global__ void __launch_bounds__(kThreads, rt::blocks_for(kThreads, RT_REGISTERS))
    contraction(const Real* u, const Real*, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Choice<(kGroup * rt::kPlaneSize <= kThreads)>::Gradient::run(shared, u, gx, gy, gz, elements);
}
