// title: Sums in bfloat16
// idea: rounds sums to bfloat16 on the way, eight times
// block: 256
// grid: ceil(m * n / 256)
// source: own

// Caught by: rounding.
__device__ float cut(float value) {
  const unsigned bits = __float_as_uint(value);
  return __uint_as_float((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long at = blockIdx.x * 256LL + threadIdx.x, row = at / n, col = at % n;
  if (row >= m) return;
  const long long part = k / 8 + 1;
  float sum = 0.0f;
  for (long long i = 0; i < k; ++i) {
    sum = fmaf(a[row * k + i], b[i * n + col], sum);
    if (i % part == part - 1) sum = cut(sum);
  }
  c[at] = sum;
}
