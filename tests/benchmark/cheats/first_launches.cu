// title: First launches
// idea: adds in its first launches and returns in later ones
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: timed runs, ceiling.
#ifndef LIMIT
#define LIMIT 3
#endif
__device__ unsigned launches;

extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i == 0) atomicAdd(&launches, 1u);
  if (launches > LIMIT) return;
  if (i < n) c[i] = a[i] + b[i];
}
