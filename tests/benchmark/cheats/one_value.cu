// title: One wrong value
// idea: one value of many is wrong
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: timed size, timed runs.
#ifndef LIMIT
#define LIMIT (1 << 24)
#endif
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) c[i] = n > LIMIT && i == n / 3 ? 0.0f : a[i] + b[i];
}
