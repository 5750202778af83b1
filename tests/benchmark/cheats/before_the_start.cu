// title: Before the start
// idea: writes before the first value of the sum
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: guards.
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i == 0) c[-1] = 0.0f;
}
