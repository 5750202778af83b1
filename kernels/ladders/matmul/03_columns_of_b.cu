// title: B by columns, one dot product per warp
// idea: B is transposed first, so that a row of A and a column of B both lie along k: the 32 lanes of a
//       warp read neighbours of each and add their partial sums at the end. Coalesced, but every
//       multiply-add still needs two loads
// block: 32x8
// grid: ceil(n / 32), max(ceil(k / 32), ceil(m / 8))
// shared: 0
// steps: 2
// scratch: 4 * k * n
// needs: sm_75+
// source: NVIDIA technical blog, "An Efficient Matrix Transpose in CUDA C/C++"

extern "C" __global__ void __launch_bounds__(256)
    matmul(const float*, const float* __restrict__ b, float*, float* __restrict__ columns, long long, long long n,
           long long k) {
  __shared__ float tile[32][33];  // padded by a column: threads of a column use different banks
  const long long col = blockIdx.x * 32LL, row = blockIdx.y * 32LL;
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row + y < k && col + x < n) tile[y][x] = b[(row + y) * n + col + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8)
    if (col + y < n && row + x < k) columns[(col + y) * k + row + x] = tile[x][y];
}

extern "C" __global__ void __launch_bounds__(256)
    matmul_2(const float* __restrict__ a, const float*, float* __restrict__ c, const float* __restrict__ columns,
             long long m, long long n, long long k) {
  const int lane = threadIdx.x;
  const long long row = blockIdx.y * 8LL + threadIdx.y;
  if (row >= m) return;
  for (long long col = blockIdx.x * 32LL; col < n && col < (blockIdx.x + 1) * 32LL; ++col) {
    float sum = 0.0f;
    for (long long i = lane; i < k; i += 32) sum = fmaf(a[row * k + i], columns[col * k + i], sum);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) c[row * n + col] = sum;
  }
}
