// title: TMA and wgmma
// idea: the two together: one thread of a warpgroup requests copies, and two warpgroups multiply directly from the stages;
//       registers move from the warpgroup that copies to those that multiply. A block ends with its tile: while it writes C
//       and the next block of its multiprocessor starts, the engine and the tensor cores have nothing to do, which costs 5%
//       of the rate of cp.async in order for L2 (03b) on an H200
// maps: a 128x64 swizzle128, b 256x64 swizzle128
// block: 384
// grid: ceil(m / 128) * ceil(n / 256)
// shared: 4 * (128 + 256) * 128 + 1024
// dtypes: bfloat16
// needs: sm_90a
// source: PTX ISA, wgmma and setmaxnreg; pranjalssh, fast.cu (the tile)
#include "../matmul/tma.cuh"
#include "warpgroup_tile.cuh"

__constant__ CUtensorMap c_map_a, c_map_b;

extern "C" __global__ void __launch_bounds__(384, 1)
    matmul_bf16(const bf16*, const bf16*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  Barrier* full = reinterpret_cast<Barrier*>(shared_bytes + kStages * kStageBytes);
  Barrier* empty = full + kStages;
  const int steps = static_cast<int>((k + kDepth - 1) / kDepth);
  const Tile tile = tile_of<kRows, kCols, 16>(blockIdx.x, m, n);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      make_barrier(full + s, 1);
      make_barrier(empty + s, kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  Ring<kStages> ring;
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x > 0) return;
    for (int t = 0; t < steps; ++t, ring.advance()) {
      wait(empty + ring.stage, ring.parity ^ 1);  // returns at once at first: that phase is complete
      unsigned char* to = shared_bytes + ring.stage * kStageBytes;
      expect(full + ring.stage, kStageBytes);
      copy_box(to, &c_map_a, static_cast<int>(tile.row), t * kDepth, full + ring.stage);
      copy_box(to + kBytesA, &c_map_b, static_cast<int>(tile.col), t * kDepth, full + ring.stage);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int group = threadIdx.x / 128 - 1;
  Sums sum;
#pragma unroll
  for (int i = 0; i < kCols / 2; ++i) sum[i] = 0.0f;
  int before = 0;
  for (int t = 0; t < steps; ++t, ring.advance()) {
    wait(full + ring.stage, ring.parity);
    multiply_stage(sum, shared_bytes + ring.stage * kStageBytes, group);
    wait_products<1>();  // of the previous step; this one continues
    if (t > 0 && threadIdx.x % 128 == 0) arrive(empty + before);
    before = ring.stage;
  }
  wait_products<0>();
  store_sums(c, sum, tile, group, m, n);
}
