// title: 2D register blocking, unrolled
// idea: the same code with `#pragma unroll`: every index is a constant, so that the 8 x 8 micro-tile is
//       in 64 registers, and a step is 64 multiply-adds for 16 shared loads
// block: 256
// grid: ceil(n / 128), ceil(m / 128)
// shared: 0
// needs: sm_75+
// source: Volkov and Demmel 2008, Benchmarking GPUs to tune dense linear algebra
#include "micro_tile.cuh"

extern "C" __global__ void __launch_bounds__(micro::kThreads, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  micro::matmul<micro::kSide>(a, b, c, m, n, k);
}
