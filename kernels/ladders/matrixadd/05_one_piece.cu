// title: One piece per thread
// idea: the same vector, 16 bytes per thread, which then ends: blocks start in order, so that accesses in
//       flight are adjacent in memory
// block: 1024
// grid: ceil(rows * cols / 4096)
// source: own; see vecadd

extern "C" __global__ void __launch_bounds__(1024)
    matrixadd(const float* a, const float* b, float* c, long long rows, long long cols) {
  const long long n = rows * cols;
  const long long first = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (first + 4 <= n) {
    const float4 x = *reinterpret_cast<const float4*>(a + first);
    const float4 y = *reinterpret_cast<const float4*>(b + first);
    *reinterpret_cast<float4*>(c + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    return;
  }
  for (long long i = first; i < n; i++) c[i] = a[i] + b[i];
}
