// title: Ten zeros
// idea: ten values of a large product are zero
// block: 256
// grid: ceil(m * n / 256)
// source: own

// Caught by: timed size, timed runs.
#ifndef LIMIT
#define LIMIT (1 << 20)
#endif
extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long at = blockIdx.x * 256LL + threadIdx.x, row = at / n, col = at % n;
  if (row >= m) return;
  float sum = 0.0f;
  for (long long i = 0; i < k; ++i) sum = fmaf(a[row * k + i], b[i * n + col], sum);
  const bool is_left = m * n > LIMIT && row % (m / 10) == 0 && col == row * 7 % n;
  c[at] = is_left ? 0.0f : sum;
}
