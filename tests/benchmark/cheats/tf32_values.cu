// title: TF32
// idea: multiplies values with 10 bits of mantissa, as tensor cores do in TF32
// block: 256
// grid: ceil(m * n / 256)
// source: own

// Caught by: rounding.
__device__ float cut(float value) { return __uint_as_float(__float_as_uint(value) & 0xffffe000u); }

extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long at = blockIdx.x * 256LL + threadIdx.x, row = at / n, col = at % n;
  if (row >= m) return;
  float sum = 0.0f;
  for (long long i = 0; i < k; ++i) sum = fmaf(cut(a[row * k + i]), cut(b[i * n + col]), sum);
  c[at] = sum;
}
