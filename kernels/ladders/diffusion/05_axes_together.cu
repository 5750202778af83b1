// title: axes together
// idea: a thread computes its lines along x, y and z at once, so that each value of the operator, a constant operand,
//       serves three multiply-adds, and the two copies of it fit the constant cache
// block: 256
// threads: min(256, 32 * ceil(max(1, 256 // (n * n)) * n * n / 32))
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * 2 * (max(1, 256 // (n * n)) * n * n * (n + 1) + 8)
// constant: d
// needs: sm_75+
// source: own; the operator is BK5 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "together.cuh"
#include "staged.cuh"

using rt::Real;
constexpr int kLines = 256;
constexpr int kThreads = rt::threads_for(kLines);
constexpr int kGroup = rt::group_for(kLines);
#ifndef RT_REGISTERS
#define RT_REGISTERS (28 + 4 * rt::kN * (int)sizeof(Real) / 4)
#endif

template <bool kOneTurn> struct Choice {
  using Operator = rt::TogetherDiffusion<kThreads, kGroup>;
};
template <> struct Choice<false> {  // n = 20: more lines than threads
  using Operator = rt::StagedDiffusion<kThreads, kGroup>;
};

extern "C" __global__ void __launch_bounds__(kThreads, rt::blocks_for(kThreads, RT_REGISTERS))
    diffusion(const Real* u, const Real* __restrict__ g, const Real*, Real* v, long long elements) {
  extern __shared__ uint4 shared[];
  Choice<(kGroup * rt::kPlaneSize <= kThreads)>::Operator::run(shared, u, g, v, elements);
}
