// title: Past the end
// idea: writes whole groups of four values
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: guards.
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i == n - 1) c[n] = 0.0f;
}
