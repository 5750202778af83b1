// title: element and operator in shared memory
// idea: a block stages one element and the operator, so that global memory is read once; the operator is staged
//       transposed, so that neighbouring k read neighbouring words: by rows they are n words apart, with bank conflicts
// block: 256
// grid: elements
// needs: sm_75+
// source: CUDA C++ Programming Guide, shared memory; CUDA C++ Best Practices Guide, memory banks
#include "points.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  RT_STAGE_MEMORY;
  rt::gradient_points(rt::Stage<256>{u_copy, d_copy}, u, d, gx, gy, gz, elements);
}
