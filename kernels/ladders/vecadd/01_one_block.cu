// title: One block
// idea: a single block iterates over the vectors: one of many multiprocessors works, and mostly waits for
//       memory
// block: 256
// grid: 1
// alignment: any
// source: own; the first step of most courses

extern "C" __global__ void __launch_bounds__(256) vecadd(const float* a, const float* b, float* c, long long n) {
  for (long long i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}
