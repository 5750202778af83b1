// title: Sixteen terms
// idea: sums the first 16 terms of each value
// block: 256
// grid: ceil(m * n / 256)
// source: own

// Caught by: small sizes, timed size, timed runs, ceiling.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long at = blockIdx.x * 256LL + threadIdx.x, row = at / n, col = at % n;
  if (row >= m) return;
  float sum = 0.0f;
  for (long long i = 0; i < (k < 16 ? k : 16); ++i) sum = fmaf(a[row * k + i], b[i * n + col], sum);
  c[at] = sum;
}
