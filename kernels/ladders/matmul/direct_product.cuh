// Products of few steps: a thread computes some values of C by itself, from global memory. Its columns lie so far apart
// that neighbouring threads have neighbours; nothing is shared but what the caches hold.
#pragma once
#include "skinny_args.cuh"

template <class Value, class Result, int Rows, int Cols> struct DirectProduct {
  static constexpr int kUnroll = Rows * Cols > 4 ? 4 : 8;

  static __device__ __forceinline__ void run(const SkinnyArgs<Value, Result>& args) {
    const int number = blockIdx.x * blockDim.x + threadIdx.x, groups = args.col_blocks;  // of columns
    const int row0 = number / groups * Rows, col0 = number % groups;
    if (row0 >= args.rows) return;
    unsigned row[Rows], col[Cols];  // rows and columns outside of C are those of the last one
#pragma unroll
    for (int r = 0; r < Rows; ++r) row[r] = min(row0 + r, args.rows - 1) * args.few_row;
#pragma unroll
    for (int v = 0; v < Cols; ++v) col[v] = min(col0 + v * groups, args.cols - 1) * args.many_col;
    float sum[Rows][Cols] = {};
    for (int begin = 0; begin < args.steps; begin += kUnroll) {
      float few[kUnroll][Rows], many[kUnroll][Cols];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (begin + u >= args.steps) break;
#pragma unroll
        for (int r = 0; r < Rows; ++r) few[u][r] = skinny_load(args.few + (row[r] + (begin + u) * args.few_step));
#pragma unroll
        for (int v = 0; v < Cols; ++v) many[u][v] = skinny_load(args.many + (col[v] + (begin + u) * args.many_step));
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (begin + u >= args.steps) break;
#pragma unroll
        for (int r = 0; r < Rows; ++r)
#pragma unroll
          for (int v = 0; v < Cols; ++v) sum[r][v] = fmaf(few[u][r], many[u][v], sum[r][v]);
      }
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int v = 0; v < Cols; ++v) {
        const int w = col0 + v * groups;
        if (row0 + r < args.rows && w < args.cols)
          skinny_store(args.c + ((row0 + r) * args.c_row + w * args.c_col), sum[r][v]);
      }
  }
};
