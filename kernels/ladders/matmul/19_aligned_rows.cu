// title: aligned rows
// idea: where rows of B are no multiple of 16 bytes, they are copied to rows that are, if the model expects that to
//       take less time than copies of 4 bytes in the product (14 to 30% of it)
// tiles: 128x256, 128x128, 64x128, 64x64
// schedule: parts
// block: 256
// needs: sm_80+
// source: own
#include "../matmul_bf16/align_rows.cuh"
#include "unit_kernel.cuh"

extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void __launch_bounds__(UnitPipeline<Plan>::kThreads, PER_SM)
    matmul(const __grid_constant__ UnitArgs args) {
  run_units(args);
}
