// title: any size
// idea: C in float32 or bfloat16, which each warp stores by itself; operands by rows or by columns at any distance from
//       row to row, copied to aligned rows where the engine has no map of them. Tiles of many widths, and parts along k,
//       so that they fill a whole number of waves: a model of waves chooses one of these compilations
// sizes: any
// block: 384
// needs: sm_90a
// source: own; Osama et al. 2023 (Stream-K); NVIDIA CUTLASS (ping-pong kernel); deepseek-ai, DeepGEMM (a model of cost)
#include "align_rows.cuh"
#include "early_launch.cuh"
#include "product.cuh"

// The host side defines the macros (raytracer/benchmark/products).
struct Plan {
  static constexpr int kGroups = GROUPS, kBlocks = BLOCKS, kCols = COLS, kStages = STAGES;
  static constexpr int kCluster = CLUSTER, kChunks = CHUNKS, kParts = PARTS;
  static constexpr bool kTurns = TURNS, kTransposedA = TRANSPOSED_A, kTransposedB = TRANSPOSED_B;
  using Out = std::conditional_t<C_FLOAT, float, __nv_bfloat16>;
};

// Of A and B, where their rows are not aligned, before the product.
extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void RT_CLUSTER(CLUSTER* PARTS) __launch_bounds__(Product<Plan>::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Product<Plan>(args, shared).run();
}
