// title: element and operator in shared memory
// idea: a block stages one element and the operator, so that global memory is read once; threads of
//       neighbouring k read rows of the operator n words apart, which are bank conflicts
// block: 256
// grid: elements
// needs: sm_75+
// source: CUDA C++ Programming Guide, shared memory
#include "points.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  RT_STAGE_MEMORY;
  rt::gradient_points(rt::Stage<false, 256>{u_copy, d_copy}, u, d, gx, gy, gz, elements);
}
