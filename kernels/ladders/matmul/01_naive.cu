// title: Naive
// idea: one thread per element of C; neighbouring threads lie along a column, so that the 32 lanes of a
//       warp read 32 rows of A and write 32 rows of C: 32 transactions instead of one
// block: 32x32
// grid: ceil(m / 32), ceil(n / 32)
// shared: 0
// source: CUDA C++ programming guide, matrix multiplication

extern "C" __global__ void __launch_bounds__(1024)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  const long long row = blockIdx.x * 32LL + threadIdx.x;
  const long long col = blockIdx.y * 32LL + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (long long i = 0; i < k; ++i) sum = fmaf(a[row * k + i], b[i * n + col], sum);
  c[row * n + col] = sum;
}
