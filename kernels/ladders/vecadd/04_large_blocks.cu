// title: Blocks of 1024
// idea: the same loop in two blocks of 1024 threads, which are the 2048 threads of a multiprocessor: while one warp waits
//       for memory, another one of 64 is ready (latency tolerance). No faster than 16 blocks of 128, which are 2048
//       threads too: what counts is how many warps wait at once, not how they are grouped
// block: 1024
// grid: min(ceil(n / 1024), 2 * sm)
// alignment: any
// source: CUDA C++ Best Practices Guide, occupancy

extern "C" __global__ void __launch_bounds__(1024) vecadd(const float* a, const float* b, float* c, long long n) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < n; i += stride) c[i] = a[i] + b[i];
}
