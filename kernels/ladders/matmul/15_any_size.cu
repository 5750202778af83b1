// title: any size
// idea: persistent blocks take whole tiles, and parts along k of the tiles that would be an incomplete wave
//       ("stream-K"). Operands by rows or by columns, aligned or not, at any distance from row to row: each tile and
//       layout is a compilation of its own, and a model of waves chooses it
// sizes: any
// dtypes: float32
// block: 256
// needs: sm_80+
// source: own; Osama et al. 2023 (Stream-K); Huerta et al. 2025 (register file of NVIDIA GPUs)
#include "../matmul_bf16/align_rows.cuh"
#include "../matmul_bf16/early_launch.cuh"
#include "unit_pipeline.cuh"

// The host side defines the macros (raytracer/benchmark/products).
struct Plan {
  static constexpr int kWarpRows = WARP_ROWS, kWarpCols = WARP_COLS, kGroups = GROUPS, kStages = STAGES;
  static constexpr int kParts = PARTS;
  static constexpr bool kAlongM = ALONG_M, kAlongK = ALONG_K, kWideA = WIDE_A, kWideB = WIDE_B;
};

// Of A and B, where rows that are not aligned cost more than their copies, before the product.
extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void RT_CLUSTER(PARTS) __launch_bounds__(UnitPipeline<Plan>::kThreads, PER_SM)
    matmul(const __grid_constant__ UnitArgs args) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  extern __shared__ __align__(16) unsigned char shared[];
  auto& stages = *reinterpret_cast<UnitPipeline<Plan>::Shared*>(shared);
  if constexpr (Plan::kParts > 1) {
    UnitPipeline<Plan>::run_part(stages, args);
  } else {
    __shared__ Units::Walk walk;
    UnitPipeline<Plan>::run(stages, walk, args);
  }
}
