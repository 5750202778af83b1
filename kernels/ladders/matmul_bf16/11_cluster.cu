// title: clusters of two
// idea: two blocks with adjacent rows share the columns of B: each requests half, and the engine delivers it to both, which
//       halves the L2 traffic of B. No faster than 10 on an H200 (0.96 to 1.00 from 1024 to 8192): the L2 cache is not what
//       the products wait for, and two blocks that fill each other's stages wait for the slower one
// maps: a 128x64 swizzle128, b 128x64 swizzle128, c 64x32 swizzle128
// block: 384
// grid: 2 * min(sm // 2, ceil(m / 256) * ceil(n / 256))
// shared: 4 * (128 + 256) * 128 + 4 * 64 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a
// source: CUDA C++ Programming Guide, thread block clusters; pranjalssh, fast.cu
#include "tma_wgmma.cuh"

__constant__ CUtensorMap c_map_a, c_map_b, c_map_c;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    matmul_bf16(const bf16*, const bf16*, float*, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  TmaWgmma<2>(shared_bytes).run(&c_map_a, &c_map_b, &c_map_c, m, n, k);
}
