// title: Shared-memory tiles
// idea: the block loads a 32 x 32 tile of A and of B once, and 32 threads use each value; global traffic
//       falls by 32, and shared memory becomes the limit: two loads per multiply-add
// block: 32x32
// grid: ceil(n / 32), ceil(m / 32)
// shared: 0
// dtypes: float32 int32
// source: CUDA C++ programming guide, shared memory
#include "number.cuh"

constexpr int kTile = 32;

extern "C" __global__ void __launch_bounds__(kTile* kTile)
    matmul(const Number* __restrict__ a, const Number* __restrict__ b, Number* __restrict__ c, long long m, long long n,
           long long k) {
  __shared__ Number tile_a[kTile][kTile];
  __shared__ Number tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const long long row = blockIdx.y * (long long)kTile + y;
  const long long col = blockIdx.x * (long long)kTile + x;
  Number sum = 0;
  for (long long k0 = 0; k0 < k; k0 += kTile) {
    // zeros beyond the edges, so that every thread processes the whole tile
    tile_a[y][x] = row < m && k0 + x < k ? a[row * k + k0 + x] : 0;
    tile_b[y][x] = col < n && k0 + y < k ? b[(k0 + y) * n + col] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = multiply_add(tile_a[y][i], tile_b[i][x], sum);
    __syncthreads();  // all have read the tile before it is overwritten
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
