// title: Coalesced
// idea: x along the columns: the 32 numbers of a warp are 128 contiguous bytes
// block: 32x8
// grid: min(ceil(cols / 32), 1048576), min(ceil(rows / 8), 65535)
// alignment: any
// source: CUDA C++ best practices guide, coalesced access to global memory

extern "C" __global__ void __launch_bounds__(256)
    matrixadd(const float* a, const float* b, float* c, long long rows, long long cols) {
  const long long across = static_cast<long long>(gridDim.x) * 32;
  const long long down = static_cast<long long>(gridDim.y) * 8;
  for (long long row = static_cast<long long>(blockIdx.y) * 8 + threadIdx.y; row < rows; row += down) {
    const long long first = static_cast<long long>(blockIdx.x) * 32 + threadIdx.x;
    for (long long col = first; col < cols; col += across) {
      const long long i = row * cols + col;
      c[i] = a[i] + b[i];
    }
  }
}
