// title: 2D register blocking, not unrolled
// idea: a thread adds outer products of eight values of A and eight of B to an 8 x 8 micro-tile:
//       2 FLOP per byte of shared memory instead of 0.25. `#pragma unroll 1` keeps the micro-tile
//       indexed at run time, so that it is in local memory instead of registers
// block: 256
// grid: ceil(n / 128), ceil(m / 128)
// shared: 0
// needs: sm_75+
// source: Volkov and Demmel 2008, Benchmarking GPUs to tune dense linear algebra
#include "micro_tile.cuh"

extern "C" __global__ void __launch_bounds__(micro::kThreads, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  micro::matmul<1>(a, b, c, m, n, k);
}
