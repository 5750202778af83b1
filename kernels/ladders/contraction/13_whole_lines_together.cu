// title: whole lines, axes together
// idea: the same with the three axes at once: a value of the operator serves three multiply-adds, and all three
//       derivatives leave together, where a thread has registers for three lines
// block: 416
// threads: 32 * ceil(max(1, 1024 // (bytes * n * n)) * n * n / 32)
// grid: ceil(elements / max(1, 1024 // (bytes * n * n)))
// shared: 3 * bytes * (max(1, 1024 // (bytes * n * n)) * n * (n * (n + 16 // bytes * (1 - min(1, n * bytes - n * bytes // 32 * 32))) + (1 - n + n // 2 * 2) * ((8 - bytes) * (n // 4) + bytes // 2 - 2)) + 32 // bytes)
// constant: d
// needs: sm_75+
// source: own; lines as in Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "whole_lines.cuh"

using rt::Real;
using Shape = rt::WholeShape;
using Gradient = rt::TogetherGradient<Shape::kThreads, Shape::kGroup, Shape::kAhead>;
constexpr int kRegisters = 24 + 3 * rt::kN * (int)sizeof(Real) / 4;

extern "C" __global__ void __launch_bounds__(Shape::kThreads, rt::blocks_for(Shape::kThreads, kRegisters))
    contraction(const Real* u, const Real*, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Gradient::run(shared, u, gx, gy, gz, elements);
}
