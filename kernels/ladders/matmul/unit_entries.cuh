// The kernels of a rung that takes any size and may divide tiles within a cluster: copies of operands to aligned rows,
// where they need them, and the product.
#pragma once
#include "../matmul_bf16/align_rows.cuh"
#include "../matmul_bf16/early_launch.cuh"
#include "unit_kernel.cuh"

extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void __cluster_dims__(PARTS, 1, 1) __launch_bounds__(UnitPipeline<Plan>::kThreads, PER_SM)
    matmul(const __grid_constant__ UnitArgs args) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  run_units(args);
}
