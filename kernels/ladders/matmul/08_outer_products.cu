// title: 2D register blocking
// idea: a thread adds outer products of eight values of A and eight of B to an 8 x 8 micro-tile: a step is 64
//       multiply-adds for 16 shared loads, 2 FLOP per byte instead of 0.25. `#pragma unroll` makes every index a
//       constant; with one that is not, the micro-tile would be in local memory instead of 64 registers
// block: 256
// grid: ceil(n / 128), ceil(m / 128)
// shared: 0
// source: Volkov and Demmel 2008, Benchmarking GPUs to tune dense linear algebra

constexpr int kTile = 128;  // rows and columns of C per block
constexpr int kDepth = 8;
constexpr int kSide = 8;  // rows and columns of C per thread
constexpr int kThreads = (kTile / kSide) * (kTile / kSide);

// 64 multiply-adds of a step use eight values of A and eight of B.
__device__ __forceinline__ void add_outer_products(float (&sum)[kSide][kSide], const float (*a)[kDepth],
                                                   const float (*b)[kTile], int y, int x) {
#pragma unroll 2  // more would not fit 128 registers
  for (int i = 0; i < kDepth; ++i) {
    float column[kSide], row[kSide];
#pragma unroll
    for (int r = 0; r < kSide; ++r) column[r] = a[y + r][i];
#pragma unroll
    for (int q = 0; q < kSide; ++q) row[q] = b[i][x + q];
#pragma unroll
    for (int r = 0; r < kSide; ++r)
#pragma unroll
      for (int q = 0; q < kSide; ++q) sum[r][q] = fmaf(column[r], row[q], sum[r][q]);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m, long long n,
           long long k) {
  __shared__ float tile_a[kTile][kDepth];
  __shared__ float tile_b[kDepth][kTile];
  const int tid = threadIdx.x;
  const int x = tid % (kTile / kSide) * kSide, y = tid / (kTile / kSide) * kSide;
  const long long row0 = blockIdx.y * (long long)kTile, col0 = blockIdx.x * (long long)kTile;
  float sum[kSide][kSide] = {};
#pragma unroll 1
  for (long long k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll 2
    for (int i = tid; i < kTile * kDepth; i += kThreads) {
      const int a_row = i / kDepth, a_col = i % kDepth, b_row = i / kTile, b_col = i % kTile;
      const bool a_inside = row0 + a_row < m && k0 + a_col < k;
      const bool b_inside = col0 + b_col < n && k0 + b_row < k;
      tile_a[a_row][a_col] = a_inside ? a[(row0 + a_row) * k + k0 + a_col] : 0.0f;
      tile_b[b_row][b_col] = b_inside ? b[(k0 + b_row) * n + col0 + b_col] : 0.0f;
    }
    __syncthreads();
    add_outer_products(sum, tile_a, tile_b, y, x);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kSide; ++r)
#pragma unroll
    for (int q = 0; q < kSide; ++q)
      if (row0 + y + r < m && col0 + x + q < n) c[(row0 + y + r) * n + col0 + x + q] = sum[r][q];
}
