// A 128 x 128 tile of C per block as 8 x 8 micro-tiles, one per thread, for three variants, which differ in
// the order of the sums and in whether the loops over a micro-tile are unrolled.
#pragma once

namespace micro {

constexpr int kTile = 128;  // rows and columns of C per block
constexpr int kDepth = 8;
constexpr int kSide = 8;  // rows and columns of C per thread
constexpr int kThreads = (kTile / kSide) * (kTile / kSide);

enum class Order { kElements, kOuterProducts };

// Element after element: every factor is read again. Volatile, because otherwise the compiler would keep
// equal values in registers.
__device__ __forceinline__ void add_elements(float (&sum)[kSide][kSide], const volatile float (*a)[kDepth],
                                             const volatile float (*b)[kTile], int y, int x) {
#pragma unroll
  for (int r = 0; r < kSide; ++r)
#pragma unroll
    for (int q = 0; q < kSide; ++q)
#pragma unroll
      for (int i = 0; i < kDepth; ++i) sum[r][q] = fmaf(a[y + r][i], b[i][x + q], sum[r][q]);
}

// Step after step: 64 multiply-adds use eight values of A and eight of B.
template <int Unroll>
__device__ __forceinline__ void add_outer_products(float (&sum)[kSide][kSide], const float (*a)[kDepth],
                                                   const float (*b)[kTile], int y, int x) {
  constexpr int kSteps = Unroll > 1 ? 2 : 1;  // more would not fit 128 registers
#pragma unroll kSteps
  for (int i = 0; i < kDepth; ++i) {
    float column[kSide], row[kSide];
#pragma unroll Unroll
    for (int r = 0; r < kSide; ++r) column[r] = a[y + r][i];
#pragma unroll Unroll
    for (int q = 0; q < kSide; ++q) row[q] = b[i][x + q];
#pragma unroll Unroll
    for (int r = 0; r < kSide; ++r)
#pragma unroll Unroll
      for (int q = 0; q < kSide; ++q) sum[r][q] = fmaf(column[r], row[q], sum[r][q]);
  }
}

// Unroll is 8 or 1. With 1 the index into `sum` is dynamic; registers cannot be indexed, so the micro-tile
// is in local memory, at best in the L1 cache.
template <int Unroll, Order Sums = Order::kOuterProducts>
__device__ __forceinline__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                       long long m, long long n, long long k) {
  constexpr int kSteps = Unroll > 1 ? 2 : 1;  // more would not fit 128 registers
  __shared__ float tile_a[kTile][kDepth];
  __shared__ float tile_b[kDepth][kTile];
  const int tid = threadIdx.x;
  const int x = tid % (kTile / kSide) * kSide, y = tid / (kTile / kSide) * kSide;
  const long long row0 = blockIdx.y * (long long)kTile, col0 = blockIdx.x * (long long)kTile;
  float sum[kSide][kSide] = {};
#pragma unroll 1
  for (long long k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll kSteps
    for (int i = tid; i < kTile * kDepth; i += kThreads) {
      const int a_row = i / kDepth, a_col = i % kDepth, b_row = i / kTile, b_col = i % kTile;
      const bool a_inside = row0 + a_row < m && k0 + a_col < k;
      const bool b_inside = col0 + b_col < n && k0 + b_row < k;
      tile_a[a_row][a_col] = a_inside ? a[(row0 + a_row) * k + k0 + a_col] : 0.0f;
      tile_b[b_row][b_col] = b_inside ? b[(k0 + b_row) * n + col0 + b_col] : 0.0f;
    }
    __syncthreads();
    if constexpr (Sums == Order::kElements)
      add_elements(sum, tile_a, tile_b, y, x);
    else
      add_outer_products<Unroll>(sum, tile_a, tile_b, y, x);
    __syncthreads();
  }
#pragma unroll Unroll
  for (int r = 0; r < kSide; ++r)
#pragma unroll Unroll
    for (int q = 0; q < kSide; ++q)
      if (row0 + y + r < m && col0 + x + q < n) c[(row0 + y + r) * n + col0 + x + q] = sum[r][q];
}

}  // namespace micro
