// title: tiles by size
// idea: tiles of 64 x 128 if tiles of 128 x 256 would leave half of the multiprocessors idle; otherwise
//       no more blocks than the same number of waves needs, because power is the limit
// maps: a 128x64 swizzle128, b 256x64 swizzle128, c 64x32 swizzle128, a 64x64 swizzle128 as a_small,
//       b 128x64 swizzle128 as b_small
// block: 384
// grid: min(sm, ceil(m / 64) * ceil(n / 128))
// shared: 4 * (128 + 256) * 128 + 4 * 64 * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a
// source: deepseek-ai, DeepGEMM (the tile follows the size)
#include "tma_wgmma.cuh"

struct Large : TmaPlan {
  static constexpr bool kFewest = true;
  static constexpr int kChunks = 2;
};
struct Small : TmaPlan {
  static constexpr int kGroups = 1, kCols = 128, kStages = 8, kChunks = 2, kBoxA = 64, kBoxB = 128;
};

__constant__ CUtensorMap c_map_a, c_map_b, c_map_c, c_map_a_small, c_map_b_small;

extern "C" __global__ void __launch_bounds__(384, 1)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const long long large_tiles = ((m + 127) / 128) * ((n + 255) / 256);
  if (2 * large_tiles <= gridDim.x)
    TmaWgmma<Small>(shared_bytes).run(&c_map_a_small, &c_map_b_small, &c_map_c, c, m, n, k);
  else
    TmaWgmma<Large>(shared_bytes).run(&c_map_a, &c_map_b, &c_map_c, c, m, n, k);
}
