// title: Stops early
// idea: adds the first 2^26 values alone
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: timed size, timed runs.
#ifndef LIMIT
#define LIMIT (1 << 26)
#endif
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n && i < LIMIT) c[i] = a[i] + b[i];
}
