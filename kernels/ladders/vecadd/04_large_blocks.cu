// title: Blocks of 1024
// idea: the same with two blocks of 1024 threads, which fill a multiprocessor's 2048
// block: 1024
// grid: min(ceil(n / 1024), 2 * sm)
// alignment: any
// needs: sm_75+
// source: own

extern "C" __global__ void __launch_bounds__(1024) vecadd(const float* a, const float* b, float* c, long long n) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < n; i += stride) c[i] = a[i] + b[i];
}
