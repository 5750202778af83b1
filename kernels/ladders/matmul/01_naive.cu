// title: Naive
// idea: one thread per element of C; neighbouring threads lie along a column, so that the 32 lanes of a
//       warp read 32 rows of A and write 32 rows of C: 32 transactions instead of one
// block: 32x32
// grid: ceil(m / 32), ceil(n / 32)
// shared: 0
// dtypes: float32 int32
// source: CUDA C++ programming guide, matrix multiplication
#include "number.cuh"

extern "C" __global__ void __launch_bounds__(1024)
    matmul(const Number* __restrict__ a, const Number* __restrict__ b, Number* __restrict__ c, long long m, long long n,
           long long k) {
  const long long row = blockIdx.x * 32LL + threadIdx.x;
  const long long col = blockIdx.y * 32LL + threadIdx.y;
  if (row >= m || col >= n) return;
  Number sum = 0;
  for (long long i = 0; i < k; ++i) sum = multiply_add(a[row * k + i], b[i * n + col], sum);
  c[row * n + col] = sum;
}
