// title: Coalesced
// idea: the same loop with the two thread axes exchanged: a warp lies along a row of C, so that its lanes
//       read one value of A together and 32 neighbours of B in one transaction
// block: 32x32
// grid: ceil(n / 32), ceil(m / 32)
// shared: 0
// dtypes: float32 int32
// source: CUDA C++ best practices guide, coalesced access to global memory
#include "number.cuh"

extern "C" __global__ void __launch_bounds__(1024)
    matmul(const Number* __restrict__ a, const Number* __restrict__ b, Number* __restrict__ c, long long m, long long n,
           long long k) {
  const long long row = blockIdx.y * 32LL + threadIdx.y;
  const long long col = blockIdx.x * 32LL + threadIdx.x;
  if (row >= m || col >= n) return;
  Number sum = 0;
  for (long long i = 0; i < k; ++i) sum = multiply_add(a[row * k + i], b[i * n + col], sum);
  c[row * n + col] = sum;
}
