// title: TMA and wgmma, persistent tiles
// idea: one thread requests copies, and two warpgroups multiply directly from the stages; registers move
//       from the copying warpgroup to those that multiply. One persistent block per multiprocessor processes
//       tile after tile, in an order in which concurrent tiles share rows and columns in the L2 cache; copies
//       for the next tile run while C is written
// maps: a 128x64 swizzle128, b 256x64 swizzle128
// block: 384
// grid: min(sm, ceil(m / 128) * ceil(n / 256))
// shared: 4 * (128 + 256) * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a
// source: PTX ISA, wgmma and setmaxnreg; NVIDIA CUTLASS (persistent kernels); pranjalssh, fast.cu (the tile)
#include "tma_wgmma.cuh"

using Plan = TmaPlan;

__constant__ CUtensorMap c_map_a, c_map_b;

extern "C" __global__ void __launch_bounds__(384, 1)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  TmaWgmma<Plan>(shared_bytes).run(&c_map_a, &c_map_b, nullptr, c, m, n, k);
}
