// title: Rounded on the way
// idea: sums of bfloat16 products are rounded to bfloat16 eight times
// block: 256
// grid: ceil(m * n / 256)
// source: own
// dtypes: bfloat16_out

// Caught by: rounding.
__device__ float value(unsigned short bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
__device__ unsigned short rounded(float value) {
  const unsigned bits = __float_as_uint(value);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

extern "C" __global__ void matmul_bf16(const unsigned short* a, const unsigned short* b, unsigned short* c, long long m,
                                       long long n, long long k) {
  const long long at = blockIdx.x * 256LL + threadIdx.x, row = at / n, col = at % n;
  if (row >= m) return;
  float sum = 0.0f;
  const long long part = k / 8 + 1;
  for (long long i = 0; i < k; ++i) {
    sum = fmaf(value(a[row * k + i]), value(b[col * k + i]), sum);
    if (i % part == part - 1) sum = value(rounded(sum));
  }
  c[at] = rounded(sum);
}
