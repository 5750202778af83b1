// title: Blocks across, strided
// idea: two-dimensional blocks with x across the rows: enough threads, but the threads of a warp are
//       still in different rows
// block: 32x8
// grid: min(ceil(rows / 32), 1048576), min(ceil(cols / 8), 65535)
// alignment: any
// source: own; a counterexample

extern "C" __global__ void __launch_bounds__(256)
    matrixadd(const float* a, const float* b, float* c, long long rows, long long cols) {
  const long long down = static_cast<long long>(gridDim.x) * 32;
  const long long across = static_cast<long long>(gridDim.y) * 8;
  const long long first = static_cast<long long>(blockIdx.x) * 32 + threadIdx.x;
  for (long long row = first; row < rows; row += down) {
    for (long long col = static_cast<long long>(blockIdx.y) * 8 + threadIdx.y; col < cols; col += across) {
      const long long i = row * cols + col;
      c[i] = a[i] + b[i];
    }
  }
}
