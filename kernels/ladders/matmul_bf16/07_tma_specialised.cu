// title: TMA, producer warp
// idea: a fifth warp only requests copies and waits for free stages; the four multiplying warps wait for
//       data and never for each other
// maps: a 128x64 swizzle128, b 128x64 swizzle128
// block: 160
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 3 * 2 * 128 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a, sm_120
// source: NVIDIA CUTLASS (warp specialisation)
#include <cuda_bf16.h>

#include "tma_mma.cuh"

using bf16 = __nv_bfloat16;
using Shape = TmaMma<128, 3>;

__constant__ CUtensorMap c_map_a, c_map_b;

extern "C" __global__ void __launch_bounds__(160, 1)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  Shape(shared_bytes, k)
      .run_specialised(&c_map_a, &c_map_b, c, tile_of<Shape::kTile, Shape::kTile, 16>(blockIdx.x, m, n), m, n);
}
