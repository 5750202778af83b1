// title: Swapped keys
// idea: changes the order of its keys, which does not change the counts
// block: 256
// grid: max(1, ceil(n / 256))
// source: own

// Caught by: inputs.
extern "C" __global__ void histogram(const unsigned char* keys, unsigned* bins, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  unsigned char* own = const_cast<unsigned char*>(keys);
  atomicAdd(bins + keys[i], 1u);
  __syncthreads();
  if (i % 2 == 0 && i + 1 < n) {
    const unsigned char first = own[i];
    own[i] = own[i + 1];
    own[i + 1] = first;
  }
}
