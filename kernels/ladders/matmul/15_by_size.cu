// title: prefetched fragments, tiles by size
// idea: fragments of the next step are loaded while this one is multiplied; if 128 x 128 tiles do not fill
//       the GPU, the four warps of a block share a 64 x 64 tile and divide k among them
// maps: a 64x32 swizzle128, b 32x64
// block: 128
// grid: max(ceil(m / 128) * ceil(n / 128), min(ceil(m / 64) * ceil(n / 64), 7 * sm))
// shared: 12 * 64 * 32 * 4 + 1024
// needs: sm_90a, sm_120
// source: NVIDIA CUTLASS, efficient GEMM in CUDA (sliced-K)
#include "panels.cuh"

__constant__ CUtensorMap c_map_a, c_map_b;

// The grid is that of small tiles if there are at most seven per multiprocessor: two run at once, so that
// the last wave of large tiles would be less than seven eighths full.
extern "C" __global__ void __launch_bounds__(panels::kThreads, 2)
    matmul(const float*, const float*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const long long block = blockIdx.x;
  if (gridDim.x == ((m + 63) / 64) * ((n + 63) / 64)) {
    panels::Product<4>().run(shared, &c_map_a, &c_map_b, c, block, m, n, k);
  } else if (block < ((m + 127) / 128) * ((n + 127) / 128)) {
    panels::Product<1>().run(shared, &c_map_a, &c_map_b, c, block, m, n, k);
  }
}
