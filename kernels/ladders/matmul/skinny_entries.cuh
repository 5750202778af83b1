// The kernels of a rung that has some for skinny products beside its tiles: each compilation is one of them. The host
// side defines the macros (raytracer/benchmark/products/skinny.py).
#pragma once
#ifdef SKINNY_ROWS
#include "direct_product.cuh"
#include "skinny.cuh"
#include "../matmul_bf16/early_launch.cuh"

extern "C" __global__ void __launch_bounds__(256, 2) matmul(const __grid_constant__ SkinnyArgs<float, float> args) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
#if DIRECT_COLS
  DirectProduct<float, float, SKINNY_ROWS, DIRECT_COLS>::run(args);
#else
  extern __shared__ __align__(16) float shared[];
  Skinny<float, float, SKINNY_ROWS, PACK>(args, shared).run();
#endif
}
#else
#define ROWS_OF_C 1
#include "unit_entries.cuh"
#endif
