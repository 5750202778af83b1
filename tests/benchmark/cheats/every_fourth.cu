// title: Every fourth
// idea: counts every fourth key four times
// block: 256
// grid: max(1, ceil(n / 256))
// source: own

// Caught by: small sizes, timed size, timed runs.
extern "C" __global__ void histogram(const unsigned char* keys, unsigned* bins, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n && i % 4 == 0) atomicAdd(bins + keys[i], 4u);
}
