// title: 1D register blocking
// idea: a thread computes eight elements of a column, so that a value of B is read once from shared
//       memory and used eight times from a register: 1.1 shared loads per multiply-add instead of 2
// block: 512
// grid: ceil(n / 64), ceil(m / 64)
// shared: 0
// dtypes: float32 int32
// source: Volkov and Demmel 2008, Benchmarking GPUs to tune dense linear algebra
#include "number.cuh"

constexpr int kTile = 64;  // rows and columns of C per block
constexpr int kDepth = 8;
constexpr int kRows = 8;  // elements of C per thread, one below the other
constexpr int kThreads = kTile * kTile / kRows;
static_assert(kThreads == kTile * kDepth, "each thread fetches one value of A and one of B");

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul(const Number* __restrict__ a, const Number* __restrict__ b, Number* __restrict__ c, long long m, long long n,
           long long k) {
  __shared__ Number tile_a[kTile][kDepth];
  __shared__ Number tile_b[kDepth][kTile];
  const int tid = threadIdx.x;
  const int x = tid % kTile, y = tid / kTile * kRows;
  const int a_row = tid / kDepth, a_col = tid % kDepth, b_row = tid / kTile;
  const long long row0 = blockIdx.y * (long long)kTile, col0 = blockIdx.x * (long long)kTile;
  const bool a_inside = row0 + a_row < m, b_inside = col0 + x < n;
  const Number* from_a = a + (row0 + a_row) * k + a_col;
  const Number* from_b = b + b_row * n + col0 + x;
  Number sum[kRows] = {};
  for (long long k0 = 0; k0 < k; k0 += kDepth) {
    tile_a[a_row][a_col] = a_inside && k0 + a_col < k ? from_a[k0] : 0;
    tile_b[b_row][x] = b_inside && k0 + b_row < k ? from_b[k0 * n] : 0;
    __syncthreads();
#pragma unroll 4  // eight steps need more registers than a block of 512 threads has
    for (int i = 0; i < kDepth; ++i) {
      const Number value = tile_b[i][x];
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum[r] = multiply_add(tile_a[y + r][i], value, sum[r]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    if (row0 + y + r < m && col0 + x < n) c[(row0 + y + r) * n + col0 + x] = sum[r];
}
