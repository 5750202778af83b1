// title: Constant input
// idea: takes all values for the first ones
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: small sizes, timed size, timed runs, ceiling.
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) c[i] = a[0] + b[0];
}
