// title: shared memory without bank conflicts
// idea: the operator is staged transposed: neighbouring k read neighbouring words
// block: 256
// grid: elements
// needs: sm_75+
// source: CUDA C++ Best Practices Guide, shared memory and memory banks
#include "points.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  RT_STAGE_MEMORY;
  rt::gradient_points(rt::Stage<true, 256>{u_copy, d_copy}, u, d, gx, gy, gz, elements);
}
