// title: TMA, 64-byte swizzle
// idea: one thread requests whole tiles from the copy engine, which stores them swizzled; a barrier in
//       shared memory counts the bytes. No thread computes an address for a copy
// maps: a 128x32 swizzle64, b 128x32 swizzle64
// block: 128
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 6 * 2 * 128 * 64 + 1024
// dtypes: bfloat16
// needs: sm_90a, sm_120
// source: CUDA C++ Programming Guide, tensor memory access; gau-nernst, learn-cuda (the ladder)
#include <cuda_bf16.h>

#include "tma_mma.cuh"

using bf16 = __nv_bfloat16;
using Shape = TmaMma<64, 6>;

__constant__ CUtensorMap c_map_a, c_map_b;

extern "C" __global__ void __launch_bounds__(128, 2)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  Shape(shared_bytes, k).run(&c_map_a, &c_map_b, c, tile_of<Shape::kTile, Shape::kTile, 16>(blockIdx.x, m, n), m, n);
}
