// title: B by columns, one dot product per warp
// idea: the other way to coalesce: B is converted to column-major layout first, so that a row of A and a column of B both
//       lie along k, and the 32 lanes of a warp read neighbours of each and add their partial sums at the end. Every
//       multiply-add still needs two loads
// block: 32x8
// grid: ceil(n / 32), max(ceil(k / 32), ceil(m / 8))
// shared: 0
// dtypes: float32 int32
// steps: 2
// scratch: 4 * k * n
// source: NVIDIA technical blog, "An Efficient Matrix Transpose in CUDA C/C++"
#include "number.cuh"

extern "C" __global__ void __launch_bounds__(256)
    matmul(const Number*, const Number* __restrict__ b, Number*, Number* __restrict__ columns, long long, long long n,
           long long k) {
  __shared__ Number tile[32][33];  // padded by a column: threads of a column use different banks
  const long long col = blockIdx.x * 32LL, row = blockIdx.y * 32LL;
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row + y < k && col + x < n) tile[y][x] = b[(row + y) * n + col + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8)
    if (col + y < n && row + x < k) columns[(col + y) * k + row + x] = tile[x][y];
}

extern "C" __global__ void __launch_bounds__(256)
    matmul_2(const Number* __restrict__ a, const Number*, Number* __restrict__ c, const Number* __restrict__ columns,
             long long m, long long n, long long k) {
  const int lane = threadIdx.x;
  const long long row = blockIdx.y * 8LL + threadIdx.y;
  if (row >= m) return;
  for (long long col = blockIdx.x * 32LL; col < n && col < (blockIdx.x + 1) * 32LL; ++col) {
    Number sum = 0;
    for (long long i = lane; i < k; i += 32) sum = multiply_add(a[row * k + i], columns[col * k + i], sum);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) c[row * n + col] = sum;
  }
}
