// title: Kept counts
// idea: keeps the counts of its first launch and copies them in later ones
// block: 256
// grid: max(1, ceil(n / 256))
// source: own

// Caught by: two inputs.
__device__ unsigned kept[256], blocks, launches;

extern "C" __global__ void histogram(const unsigned char* keys, unsigned* bins, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  __shared__ unsigned launch;
  if (threadIdx.x == 0) launch = launches;
  __syncthreads();
  if (launch > 0) {
    if (i < 256) bins[i] = kept[i];
    return;
  }
  if (i < n) {
    atomicAdd(bins + keys[i], 1u);
    atomicAdd(kept + keys[i], 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&blocks, 1u) % gridDim.x == gridDim.x - 1) launches = 1;
}
