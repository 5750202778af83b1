// title: 2D tile, element by element
// idea: 8 x 8 elements per thread, one after the other: every multiply-add reads both of its factors from shared memory,
//       2 FLOP for 8 bytes, 0.25 FLOP per byte. More work per thread alone does not reuse values: 5.7 times slower than a
//       column of eight on an H200, where a value of B serves eight multiply-adds
// block: 256
// grid: ceil(n / 128), ceil(m / 128)
// shared: 0
// dtypes: float32 int32
// source: Boehm 2022, How to optimize a CUDA matmul kernel; the count of FLOP per byte is that of the sources
#include "micro_tile.cuh"

// Volatile, because otherwise the compiler would keep equal values in registers.
__device__ __forceinline__ void add_elements(Number (&sum)[kSide][kSide], const volatile Number (*a)[kDepth],
                                             const volatile Number (*b)[kTile], int y, int x) {
#pragma unroll
  for (int r = 0; r < kSide; ++r)
#pragma unroll
    for (int q = 0; q < kSide; ++q)
#pragma unroll
      for (int i = 0; i < kDepth; ++i) sum[r][q] = multiply_add(a[y + r][i], b[i][x + q], sum[r][q]);
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
    add_elements(sum, tile_a, tile_b, y, x);
    __syncthreads();  // all have read the tiles before they are overwritten
  }
#pragma unroll
  for (int r = 0; r < kSide; ++r)
#pragma unroll
    for (int q = 0; q < kSide; ++q)
      if (row0 + y + r < m && col0 + x + q < n) c[(row0 + y + r) * n + col0 + x + q] = sum[r][q];
}
