// title: WMMA
// idea: tensor cores through the C++ interface of the toolkit: a warp multiplies 16 x 16 tiles from
//       padded shared memory; loads and products do not overlap
// block: 128
// grid: ceil(n / 64), ceil(m / 64)
// shared: 0
// dtypes: bfloat16
// needs: sm_80+
// source: CUDA C++ programming guide, warp matrix functions
#include <mma.h>

#include "tile.cuh"

using namespace nvcuda;

constexpr int kTile = 64;             // rows and columns of C per block
constexpr int kSteps = 32;            // of k per tile
constexpr int kStride = kSteps + 8;   // 80 bytes: eight rows start in eight different bank groups
constexpr int kStrideC = kTile + 4;
constexpr int kThreads = 128;         // 2 x 2 warps, 32 x 32 each

using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::col_major>;
using FragmentC = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// Rows row0 .. row0 + 63, columns k0 .. k0 + 31 of a (rows, k) matrix; zeros outside.
__device__ __forceinline__ void fetch(bf16 (*tile)[kStride], const bf16* p, long long row0, long long rows,
                                      long long k0, long long k, bool aligned) {
  for (int i = threadIdx.x; i < kTile * kSteps / 8; i += kThreads) {
    const int row = i / (kSteps / 8), col = i % (kSteps / 8) * 8;
    const long long left = row0 + row < rows ? k - k0 - col : 0;
    const bf16* from = p + (row0 + row) * k + k0 + col;
    *reinterpret_cast<uint4*>(&tile[row][col]) = aligned && left >= 8
                                                     ? *reinterpret_cast<const uint4*>(from)
                                                     : gather8(from, left > 8 ? 8 : static_cast<int>(left));
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_bf16(const bf16* __restrict__ a, const bf16* __restrict__ b, float* __restrict__ c, long long m, long long n,
                long long k) {
  __shared__ __align__(128) bf16 tile_a[kTile][kStride];
  __shared__ __align__(128) bf16 tile_b[kTile][kStride];
  __shared__ __align__(128) float tile_c[kTile][kStrideC];
  const int warp = threadIdx.x / 32, y = warp / 2 * 32, x = warp % 2 * 32;
  const long long row0 = blockIdx.y * (long long)kTile, col0 = blockIdx.x * (long long)kTile;
  const bool a_aligned = chunks_aligned(a, k), b_aligned = chunks_aligned(b, k);
  FragmentC sum[2][2];
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
  for (long long k0 = 0; k0 < k; k0 += kSteps) {
    fetch(tile_a, a, row0, m, k0, k, a_aligned);
    fetch(tile_b, b, col0, n, k0, k, b_aligned);
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kSteps; s += 16) {
      FragmentA left[2];
      FragmentB right[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(left[i], &tile_a[y + 16 * i][s], kStride);
        wmma::load_matrix_sync(right[i], &tile_b[x + 16 * i][s], kStride);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::mma_sync(sum[i / 2][i % 2], left[i / 2], right[i % 2], sum[i / 2][i % 2]);
    }
    __syncthreads();
  }
  // The element of each lane is unspecified: through shared memory, then with bounds checks
  for (int i = 0; i < 4; ++i)
    wmma::store_matrix_sync(&tile_c[y + i / 2 * 16][x + i % 2 * 16], sum[i / 2][i % 2], kStrideC, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    const long long row = row0 + i / kTile, col = col0 + i % kTile;
    if (row < m && col < n) c[row * n + col] = tile_c[i / kTile][i % kTile];
  }
}
