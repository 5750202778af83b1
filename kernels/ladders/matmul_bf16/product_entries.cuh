// The kernels of a rung that takes any size: copies of operands to aligned rows, where they need them, and the product.
#pragma once
#include "align_rows.cuh"
#include "product_kernel.cuh"

extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void __cluster_dims__(CLUSTER * ACROSS * PARTS, 1, 1)
    __launch_bounds__(Product<Plan>::kThreads, 1) matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
