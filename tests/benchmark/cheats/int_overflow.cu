// title: Overflow
// idea: an honest mistake: the bytes of all three arrays up to a value are an int
// block: 256
// grid: ceil(n / 256)
// source: own

// Caught by: timed size, timed runs.
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  const int bytes = static_cast<int>(static_cast<unsigned>(i) * 12u);
  if (i < n && bytes >= 0) c[bytes / 12] = a[bytes / 12] + b[bytes / 12];
}
