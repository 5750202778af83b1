// title: One row per thread
// idea: each thread adds a row: neighbouring threads are a row apart, so that each load of a warp
//       accesses 32 sectors of memory for 32 numbers
// block: 128
// grid: ceil(rows / 128)
// alignment: any
// source: own; a counterexample

extern "C" __global__ void __launch_bounds__(128)
    matrixadd(const float* a, const float* b, float* c, long long rows, long long cols) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (long long col = 0; col < cols; ++col) {
    const long long i = row * cols + col;
    c[i] = a[i] + b[i];
  }
}
