// title: Coalesced
// idea: the same loop with the two thread axes exchanged: a warp lies along a row of C, so that its lanes
//       read one value of A together and 32 neighbours of B in one transaction
// block: 32x32
// grid: ceil(n / 32), ceil(m / 32)
// shared: 0
// source: CUDA C++ best practices guide, coalesced access to global memory

extern "C" __global__ void __launch_bounds__(1024)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  const long long row = blockIdx.y * 32LL + threadIdx.y;
  const long long col = blockIdx.x * 32LL + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (long long i = 0; i < k; ++i) sum = fmaf(a[row * k + i], b[i * n + col], sum);
  c[row * n + col] = sum;
}
