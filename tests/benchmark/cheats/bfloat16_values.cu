// title: Lower precision
// idea: adds values that are cut to bfloat16
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: rounding.
__device__ float cut(float value) { return __uint_as_float(__float_as_uint(value) & 0xffff0000u); }

extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) c[i] = cut(a[i]) + cut(b[i]);
}
