// title: 8 x 16 per thread
// idea: 128 accumulators per thread: 6 shared loads for 128 multiply-adds instead of 4 for 64; blocks of
//       four warps, two per multiprocessor, so that one computes while the other is at its barrier
// block: 128
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 0
// needs: sm_80+
// source: salykova, sgemm.cu (the shape)
#include "pipeline.cuh"

using Shape = Pipeline<2, 2, 4, 4>;

extern "C" __global__ void __launch_bounds__(Shape::kThreads, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  __shared__ __align__(16) Shape::Shared shared;
  Shape::run(shared, a, b, c, tile_of<Shape::kRows, Shape::kCols, 16>(blockIdx.x, m, n), m, n, k);
}
