// title: TMA stores
// idea: C is staged in shared memory, swizzled, and the engine writes it in boxes of 64 x 32 while the next tile is copied and
//       multiplied: a warp's own stores are pairs of values in eight rows, the engine's are whole lines
// maps: a 128x64 swizzle128, b 256x64 swizzle128, c 64x32 swizzle128
// block: 384
// grid: min(sm, ceil(m / 128) * ceil(n / 256))
// shared: 4 * (128 + 256) * 128 + 4 * 64 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a
// source: CUDA C++ Programming Guide, tensor memory access; pranjalssh, fast.cu (the tile)
#include "tma_wgmma.cuh"

__constant__ CUtensorMap c_map_a, c_map_b, c_map_c;

extern "C" __global__ void __launch_bounds__(384, 1)
    matmul_bf16(const bf16*, const bf16*, float*, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  TmaWgmma<1>(shared_bytes).run(&c_map_a, &c_map_b, &c_map_c, m, n, k);
}
