// title: Asynchronous stages
// idea: cp.async copies tiles three ahead into a ring of four stages, bypassing registers, and fragments
//       are double-buffered: one barrier per tile, and global latency is hidden
// block: 256
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 0
// needs: sm_80+
// source: CUDA C++ programming guide, asynchronous data copies; NVIDIA CUTLASS
#include "pipeline.cuh"

using Shape = Pipeline<2, 4, 2, 4>;

extern "C" __global__ void __launch_bounds__(Shape::kThreads, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  __shared__ __align__(16) Shape::Shared shared;
  Shape::run(shared, a, b, c, tile_of<Shape::kRows, Shape::kCols, 16>(blockIdx.x, m, n), m, n, k);
}
