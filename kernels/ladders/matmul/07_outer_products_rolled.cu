// title: 2D register blocking, not unrolled
// idea: a thread adds outer products of eight values of A and eight of B to an 8 x 8 micro-tile: a step is 128 FLOP for 16
//       shared loads, 2 FLOP per byte instead of 0.25. But `#pragma unroll 1` leaves the index of the micro-tile to be
//       computed at run time. Registers have no index, so that the micro-tile is in local memory, which every
//       multiply-add reads and writes: 4.3 times slower than single elements on an H200
// block: 256
// grid: ceil(n / 128), ceil(m / 128)
// shared: 0
// dtypes: float32 int32
// source: Volkov and Demmel 2008, Benchmarking GPUs to tune dense linear algebra
#include "micro_tile.cuh"

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
#pragma unroll 1
    for (int i = 0; i < kDepth; ++i) {
      Number column[kSide], row[kSide];
#pragma unroll 1
      for (int r = 0; r < kSide; ++r) column[r] = tile_a[y + r][i];
#pragma unroll 1
      for (int q = 0; q < kSide; ++q) row[q] = tile_b[i][x + q];
#pragma unroll 1
      for (int r = 0; r < kSide; ++r)
#pragma unroll 1
        for (int q = 0; q < kSide; ++q) sum[r][q] = multiply_add(column[r], row[q], sum[r][q]);
    }
    __syncthreads();  // all have read the tiles before they are overwritten
  }
#pragma unroll 1
  for (int r = 0; r < kSide; ++r)
#pragma unroll 1
    for (int q = 0; q < kSide; ++q)
      if (row0 + y + r < m && col0 + x + q < n) c[(row0 + y + r) * n + col0 + x + q] = sum[r][q];
}
