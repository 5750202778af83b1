// title: whole lines of memory
// idea: packs begin at lines of 128 bytes of memory, wherever the group begins, so that a warp writes four lines and
//       no part of a fifth; every derivative leaves through shared memory, whose rows and planes begin in different
//       banks; the group that a later block needs is requested for the L2 cache
// block: 416
// threads: 32 * ceil(max(1, 1024 // (bytes * n * n)) * n * n / 32)
// grid: ceil(elements / max(1, 1024 // (bytes * n * n)))
// shared: 2 * bytes * (max(1, 1024 // (bytes * n * n)) * n * (n * (n + 16 // bytes * (1 - min(1, n * bytes - n * bytes // 32 * 32))) + (1 - n + n // 2 * 2) * ((8 - bytes) * (n // 4) + bytes // 2 - 2)) + 32 // bytes)
// constant: d
// best: n 15 16 20 float32, n 2 3 4 5 6 7 8 14 15 16 20 float64
// needs: sm_75+
// source: own; lines as in Fischer et al. 2020, Scalability of high-performance PDE solvers
#ifndef RT_OPERATOR_COPIES
#define RT_OPERATOR_COPIES (RT_N < 13 ? 3 : 1)
#endif
#include "whole_lines.cuh"

using rt::Real;
using Shape = rt::WholeShape;
using Gradient = rt::WholeGradient<Shape::kThreads, Shape::kGroup, Shape::kAhead>;

extern "C" __global__ void __launch_bounds__(Shape::kThreads,
                                             rt::blocks_for(Shape::kThreads, 32 + 4 * (int)sizeof(Real)))
    contraction(const Real* u, const Real*, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Gradient::run(shared, u, gx, gy, gz, elements);
}
