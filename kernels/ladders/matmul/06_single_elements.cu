// title: 2D tile, element by element
// idea: 8 x 8 elements per thread, one after the other: every multiply-add reads both of its factors from
//       shared memory, 0.25 FLOP per byte. More work per thread alone does not reuse values
// block: 256
// grid: ceil(n / 128), ceil(m / 128)
// shared: 0
// needs: sm_75+
// source: Volkov and Demmel 2008, Benchmarking GPUs to tune dense linear algebra
#include "micro_tile.cuh"

extern "C" __global__ void __launch_bounds__(micro::kThreads, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  micro::matmul<micro::kSide, micro::Order::kElements>(a, b, c, m, n, k);
}
