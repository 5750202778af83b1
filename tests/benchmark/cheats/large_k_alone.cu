// title: Large products
// idea: sums 16 terms where nobody checks: of large products
// block: 256
// grid: ceil(m * n / 256)
// source: own

// Caught by: timed size, timed runs, ceiling.
#ifndef LIMIT
#define LIMIT (1 << 20)
#endif
extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long at = blockIdx.x * 256LL + threadIdx.x, row = at / n, col = at % n;
  if (row >= m) return;
  const long long terms = m * n > LIMIT ? 16 : k;
  float sum = 0.0f;
  for (long long i = 0; i < terms; ++i) sum = fmaf(a[row * k + i], b[i * n + col], sum);
  c[at] = sum;
}
