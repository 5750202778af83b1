// title: Grid stride
// idea: at most 16 blocks per multiprocessor, which iterate over the vectors in strides of the grid,
//       without the cost of starting a million blocks. No faster than 02 on an H100: the hardware starts blocks beside those
//       that wait for memory
// block: 128
// grid: min(ceil(n / 128), 16 * sm)
// alignment: any
// source: NVIDIA technical blog, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops"

extern "C" __global__ void __launch_bounds__(128) vecadd(const float* a, const float* b, float* c, long long n) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < n; i += stride) c[i] = a[i] + b[i];
}
