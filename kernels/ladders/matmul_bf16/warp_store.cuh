// Stores of C by warps, each on its own: the 16 rows that a warp has of a 64-row product go through a chunk of
// 2 KB of shared memory, and from there by the copy engine, or, where rows of C are not aligned, as neighbouring
// values of a row. The last chunk ends where the sums end and may repeat columns of the one before. Layout of the
// sums: wgmma.cuh.
#pragma once
#include <cuda_bf16.h>

#include "../matmul/tma.cuh"
#include "wgmma.cuh"

template <class Out, int Cols> struct WarpStore {
  static constexpr int kBytes = 2048, kRowBytes = 128, kRows = kBytes / kRowBytes, kCols = kRowBytes / sizeof(Out);
  static_assert(Cols >= kCols && Cols % 8 == 0 && kCols % 16 == 0, "whole chunks");

  unsigned char* chunks;
  int next = 0;

  __device__ __forceinline__ explicit WarpStore(unsigned char* shared) : chunks(shared) {}

  // Columns 8 j to 8 j + 15 of the sums, as the bits of bfloat16: four 8 x 8 matrices by one instruction.
  static __device__ __forceinline__ void put(unsigned char* chunk, int j, const float* v, __nv_bfloat16*) {
    const int lane = threadIdx.x % 32;
    const __nv_bfloat162 w[4] = {__floats2bfloat162_rn(v[0], v[1]), __floats2bfloat162_rn(v[2], v[3]),
                                 __floats2bfloat162_rn(v[4], v[5]), __floats2bfloat162_rn(v[6], v[7])};
    const unsigned* r = reinterpret_cast<const unsigned*>(w);
    const int at = (lane % 16) * kRowBytes + (j + lane / 16) * 16;
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(chunk + swizzle(at))),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
        : "memory");
  }
  static __device__ __forceinline__ void put(unsigned char* chunk, int j, const float* v, float*) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2; ++i, v += 4) {
      const int at = lane / 4 * kRowBytes + ((j + i) * 8 + lane % 4 * 2) * 4;
      *reinterpret_cast<float2*>(chunk + swizzle(at)) = make_float2(v[0], v[1]);
      *reinterpret_cast<float2*>(chunk + swizzle(at + 8 * kRowBytes)) = make_float2(v[2], v[3]);
    }
  }

  // 64 rows by Cols columns of the warpgroup's sums, from (row, col) on.
  template <int Chunks, class Args>
  __device__ __forceinline__ void write(const Args& args, const float (&sum)[Cols / 2], int row, int col) {
    const int lane = threadIdx.x % 32;
    row += threadIdx.x / 32 % 4 * 16;
#pragma unroll
    for (int part = 0; part < (Cols + kCols - 1) / kCols; ++part) {
      const int first = part * kCols < Cols - kCols ? part * kCols : Cols - kCols;
      unsigned char* chunk = chunks + next * kBytes;
      next = next + 1 == Chunks ? 0 : next + 1;
      if (lane == 0) wait_boxes_read<Chunks - 1>();  // the previous store of this chunk has read it
      __syncwarp();
#pragma unroll
      for (int j = 0; j < kCols / 8; j += 2) put(chunk, j, sum + (first / 8 + j) * 4, (Out*)nullptr);
      const int to_col = col + first;
      if (args.mapped) {
        fence_async_proxy();
        __syncwarp();
        if (lane == 0) {
          write_box(&args.c, row, to_col, chunk);
          commit_boxes();
        }
      } else {
        __syncwarp();
        copy_rows(args, chunk, row, to_col);
      }
    }
  }

  // Without the copy engine: lanes write neighbouring values.
  template <class Args>
  static __device__ __forceinline__ void copy_rows(const Args& args, const unsigned char* chunk, int row, int col) {
    const int lane = threadIdx.x % 32;
    Out* to = static_cast<Out*>(args.out) + row * args.out_cols + col + lane;
    for (int r = 0; r < kRows && row + r < args.m; ++r, to += args.out_cols)
#pragma unroll
      for (int i = 0; i < kCols; i += 32) {
        const int at = swizzle(r * kRowBytes + (i + lane) * static_cast<int>(sizeof(Out)));
        if (col + i + lane < args.n) to[i] = *reinterpret_cast<const Out*>(chunk + at);
      }
  }
};
