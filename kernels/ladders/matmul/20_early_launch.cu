// title: early launch
// idea: the kernel is launched while the kernel ahead of it in the stream still runs, and waits before it reads
//       ("programmatic dependent launch"), so that launch and first instructions cost no time
// tiles: 128x256, 128x128, 64x128, 64x64
// schedule: parts
// start: early
// block: 256
// needs: sm_90+
// source: PTX ISA, griddepcontrol
#include "../matmul_bf16/align_rows.cuh"
#include "../matmul_bf16/early_launch.cuh"
#include "unit_kernel.cuh"

extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void __launch_bounds__(UnitPipeline<Plan>::kThreads, PER_SM)
    matmul(const __grid_constant__ UnitArgs args) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  run_units(args);
}
