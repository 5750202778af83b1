// title: TMA, 128-byte swizzle
// idea: the same with tiles twice as deep: half the barriers, half the requests
// maps: a 128x64 swizzle128, b 128x64 swizzle128
// block: 128
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 3 * 2 * 128 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a, sm_120
// source: CUDA C++ Programming Guide, tensor memory access
#include <cuda_bf16.h>

#include "tma_mma.cuh"

using bf16 = __nv_bfloat16;
using Shape = TmaMma<128, 3>;

__constant__ CUtensorMap c_map_a, c_map_b;

extern "C" __global__ void __launch_bounds__(128, 2)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  Shape(shared_bytes, k).run(&c_map_a, &c_map_b, c, tile_of<Shape::kTile, Shape::kTile, 16>(blockIdx.x, m, n), m, n);
}
