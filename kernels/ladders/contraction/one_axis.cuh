// The operator along one axis: v = D u. A thread per point, and a thread per line (lines.cuh), for the ladders of the axes.
//   u, v  [elements][n][n][n]     d  [n][n]
#pragma once
#include "lines.cuh"

namespace rt {

template <Axis axis> inline constexpr int kGlobalStep = axis == Axis::x ? kPlaneSize : axis == Axis::y ? kN : 1;

// The definition: a line of u and a row of d for each point, all from global memory.
template <Axis axis> RT_DEVICE void contract_point(const Real* u, const Real* d, Real* v, long long elements) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= elements * kSize) return;
  const int step = kGlobalStep<axis>, row = (int)(index / step % kN);
  const Real* line = u + (index - row * step);
  Real sum = 0;
#pragma unroll
  for (int l = 0; l < kN; l++) sum = multiply_add(d[row * kN + l], line[l * step], sum);
  v[index] = sum;
}

template <Axis axis> RT_DEVICE void contract_line(const Real* u, Real* v, long long elements) {
  for_lines(elements, [&](const Line& line) {
    Values in, out;
    read_line<kGlobalStep<axis>>(in, u + line.global<axis>());
    apply(out, in);
    write_line<kGlobalStep<axis>>(v + line.global<axis>(), out);
  });
}

}  // namespace rt
