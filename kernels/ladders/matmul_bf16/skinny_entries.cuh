// The kernels of a rung that has some for skinny products beside its tiles: each compilation is one of them. The host
// side defines the macros (raytracer/benchmark/products/skinny.py).
#pragma once
#ifdef SKINNY_ROWS
#include "../matmul/direct_product.cuh"
#include "../matmul/skinny.cuh"
#include "early_launch.cuh"

#if C_FLOAT
using SkinnyResult = float;
#else
using SkinnyResult = __nv_bfloat16;
#endif

extern "C" __global__ void __launch_bounds__(256, 2)
    matmul_bf16(const __grid_constant__ SkinnyArgs<unsigned short, SkinnyResult> args) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
#if DIRECT_COLS
  DirectProduct<unsigned short, SkinnyResult, SKINNY_ROWS, DIRECT_COLS>::run(args);
#else
  extern __shared__ __align__(16) float shared[];
  Skinny<unsigned short, SkinnyResult, SKINNY_ROWS, PACK>(args, shared).run();
#endif
}
#else
#define EARLY 1
#define INSIDE 1
#include "product_entries.cuh"
#endif
