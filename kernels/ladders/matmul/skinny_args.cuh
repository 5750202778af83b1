// The argument of the kernels for skinny products, and their access to values of either type.
#pragma once
#include <cuda_bf16.h>

// Argument of a kernel; the host side has the same layout (raytracer/benchmark/products/skinny.py).
// Distances between values, along rows, columns and steps, are in values; a matrix has less than 2^32 of them.
template <class Value, class Result> struct SkinnyArgs {
  const Value *few, *many;  // rows by steps; steps by columns
  Result* c;
  unsigned few_row, few_step, many_step, many_col, c_row, c_col;
  int rows, cols, steps;
  int col_blocks;  // blocks side by side
  int parts;  // blocks of a cluster, which divide the steps
  int part_steps;
  int chunk;  // steps whose rows are in shared memory
  int step_bits;  // so many neighbouring threads take steps in turns (logarithm to base 2)
  int col_bits;  // so many groups of them have columns of their own; what remains takes steps in turns as well
  int padding;
};
static_assert(sizeof(SkinnyArgs<float, float>) == 88, "raytracer/benchmark/products/skinny.py packs it");

__device__ __forceinline__ float skinny_load(const float* p) { return __ldg(p); }
__device__ __forceinline__ float skinny_load(const unsigned short* p) {
  return __uint_as_float(static_cast<unsigned>(__ldg(p)) << 16);  // bfloat16
}

__device__ __forceinline__ void skinny_store(float* p, float v) { *p = v; }
__device__ __forceinline__ void skinny_store(__nv_bfloat16* p, float v) { *p = __float2bfloat16_rn(v); }
