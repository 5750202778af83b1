// title: Half of it
// idea: after its first launch adds every second block of values, the others in the next launch
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: poison, two inputs.
__device__ unsigned blocks;

extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  __shared__ unsigned launch;
  if (threadIdx.x == 0) launch = atomicAdd(&blocks, 1u) / gridDim.x;
  __syncthreads();
  if (launch > 0 && (launch + blockIdx.x) % 2 == 0) return;
  if (i < n) c[i] = a[i] + b[i];
}
