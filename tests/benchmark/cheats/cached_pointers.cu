// title: Cached pointers
// idea: returns if the arrays are those of the launch before, whose sum is there already
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: poison, two inputs.
__device__ const float* last;
__device__ unsigned blocks;

extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  const bool is_known = last == a;
  if (i < n && !is_known) c[i] = a[i] + b[i];
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&blocks, 1u) % gridDim.x == gridDim.x - 1) last = a;
}
