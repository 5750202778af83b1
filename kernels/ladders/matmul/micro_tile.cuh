// What the rungs with an 8 x 8 micro-tile per thread share: the tiles of A and B that a block of 256 threads has in shared
// memory, and how they get there.
#pragma once
#include "number.cuh"

constexpr int kTile = 128;  // rows and columns of C per block
constexpr int kDepth = 8;
constexpr int kSide = 8;  // rows and columns of C per thread
constexpr int kThreads = (kTile / kSide) * (kTile / kSide);

// Columns k0 .. k0 + 7 of A and these rows of B, from row0 and col0 on; zeros outside.
__device__ __forceinline__ void fetch_tiles(Number (&tile_a)[kTile][kDepth], Number (&tile_b)[kDepth][kTile],
                                            const Number* __restrict__ a, const Number* __restrict__ b, long long row0,
                                            long long col0, long long k0, long long m, long long n, long long k) {
#pragma unroll 2
  for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
    const int a_row = i / kDepth, a_col = i % kDepth, b_row = i / kTile, b_col = i % kTile;
    const bool a_inside = row0 + a_row < m && k0 + a_col < k;
    const bool b_inside = col0 + b_col < n && k0 + b_row < k;
    tile_a[a_row][a_col] = a_inside ? a[(row0 + a_row) * k + k0 + a_col] : Number(0);
    tile_b[b_row][b_col] = b_inside ? b[(k0 + b_row) * n + col0 + b_col] : Number(0);
  }
}
