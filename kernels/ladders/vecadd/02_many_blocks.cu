// title: Many blocks
// idea: one thread per element: every multiprocessor has blocks, and while one waits for memory, others
//       load
// block: 256
// grid: ceil(n / 256)
// alignment: any
// source: own

extern "C" __global__ void __launch_bounds__(256) vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
