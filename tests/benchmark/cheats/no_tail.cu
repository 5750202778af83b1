// title: No tail
// idea: adds whole groups of four values, and leaves the last ones
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: small sizes.
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n / 4 * 4) c[i] = a[i] + b[i];
}
