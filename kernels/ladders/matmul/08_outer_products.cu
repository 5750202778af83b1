// title: 2D register blocking
// idea: the same outer products with `#pragma unroll`, which makes every index of the micro-tile a constant: it is in 64
//       registers, and a step is 64 multiply-adds for 16 shared loads, 2 FLOP per byte
// block: 256
// grid: ceil(n / 128), ceil(m / 128)
// shared: 0
// dtypes: float32 int32
// source: Volkov and Demmel 2008, Benchmarking GPUs to tune dense linear algebra
#include "micro_tile.cuh"

// 64 multiply-adds of a step use eight values of A and eight of B.
__device__ __forceinline__ void add_outer_products(Number (&sum)[kSide][kSide], const Number (*a)[kDepth],
                                                   const Number (*b)[kTile], int y, int x) {
#pragma unroll 2  // more would not fit 128 registers
  for (int i = 0; i < kDepth; ++i) {
    Number column[kSide], row[kSide];
#pragma unroll
    for (int r = 0; r < kSide; ++r) column[r] = a[y + r][i];
#pragma unroll
    for (int q = 0; q < kSide; ++q) row[q] = b[i][x + q];
#pragma unroll
    for (int r = 0; r < kSide; ++r)
#pragma unroll
      for (int q = 0; q < kSide; ++q) sum[r][q] = multiply_add(column[r], row[q], sum[r][q]);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    matmul(const Number* __restrict__ a, const Number* __restrict__ b, Number* __restrict__ c, long long m, long long n,
           long long k) {
  __shared__ Number tile_a[kTile][kDepth];
  __shared__ Number tile_b[kDepth][kTile];
  const int tid = threadIdx.x;
  const int x = tid % (kTile / kSide) * kSide, y = tid / (kTile / kSide) * kSide;
  const long long row0 = blockIdx.y * (long long)kTile, col0 = blockIdx.x * (long long)kTile;
  Number sum[kSide][kSide] = {};
#pragma unroll 1
  for (long long k0 = 0; k0 < k; k0 += kDepth) {
    fetch_tiles(tile_a, tile_b, a, b, row0, col0, k0, m, n, k);
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
