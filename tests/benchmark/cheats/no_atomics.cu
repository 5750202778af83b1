// title: No atomics
// idea: an honest mistake: several threads add to a bin at the same time
// block: 256
// grid: max(1, ceil(n / 256))
// source: own

// Caught by: small sizes, timed size, timed runs.
extern "C" __global__ void histogram(const unsigned char* keys, unsigned* bins, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) ++bins[keys[i]];
}
