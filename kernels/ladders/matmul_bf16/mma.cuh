// ldmatrix and mma.sync m16n8k16 (sm_80+). Of lane l, with g = l / 4 and t = l % 4:
//   A, 16 x 16: a[0] row g, columns 2t and 2t + 1; a[1] row g + 8; a[2] column + 8; a[3] both
//   B, 16 x 8:  b[0] column g, rows 2t and 2t + 1; b[1] row + 8
//   C, 16 x 8:  c[0], c[1] row g, columns 2t and 2t + 1; c[2], c[3] row g + 8
// (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type")
#pragma once
#include "../matmul/async_copy.cuh"
#include "tile.cuh"

// Four 8 x 8 matrices: lanes 8i .. 8i + 7 give the addresses of the rows of matrix i, and v[i] receives
// values 2t and 2t + 1 of its row g.
__device__ __forceinline__ void load_matrices(unsigned v[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(shared_address(row))
               : "memory");
}

// c += a b
__device__ __forceinline__ void multiply_add(float c[4], const unsigned a[4], const unsigned b[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Writes c[row][col], c[row][col + 1] of a row-major (m, n) matrix, except outside. col: even.
__device__ __forceinline__ void store2(float* c, long long row, long long col, long long m, long long n, float first,
                                       float second) {
  if (row >= m || col >= n) return;
  float* p = c + row * n + col;
  if (n % 2 == 0) {  // arrays are aligned to 256 bytes
    *reinterpret_cast<float2*>(p) = make_float2(first, second);
    return;
  }
  p[0] = first;
  if (col + 1 < n) p[1] = second;
}

// The 64 x 64 tile of C of a warp. The fragments of a step of 16 along k are loaded while those of the step before are
// multiplied. RowBytes: of a row of a stage, 64 or 128, which is also the swizzle.
template <int RowBytes> struct WarpTileOf {
  static constexpr int kSide = 64;

  float sum[4][8][4] = {};

  struct Fragments {
    unsigned a[4][4];  // four times 16 rows
    unsigned b[16];    // eight times 8 columns, two registers each
  };

  // Of the rows of tiles of A and B that begin at `a` and `b`.
  static __device__ __forceinline__ void load(Fragments& f, const unsigned char* a, const unsigned char* b, int lane,
                                              int step) {
    // A: matrices (rows 0-7, k 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15)
    const unsigned char* from_a = a + swizzled<RowBytes>(lane % 16, 2 * step + lane / 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) load_matrices(f.a[i], from_a + i * 16 * RowBytes);
    // B: matrices (columns 0-7, k 0-7), (0-7, 8-15), (8-15, 0-7), (8-15, 8-15): two 16 x 8 operands
    const unsigned char* from_b = b + swizzled<RowBytes>(lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2);
#pragma unroll
    for (int i = 0; i < 4; ++i) load_matrices(&f.b[4 * i], from_b + i * 16 * RowBytes);
  }

  // Adds the products of a stage.
  __device__ __forceinline__ void multiply(const unsigned char* a, const unsigned char* b, int lane) {
    constexpr int kSteps = RowBytes / 32;
    Fragments f[2];
    load(f[0], a, b, lane, 0);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (s + 1 < kSteps) load(f[(s + 1) % 2], a, b, lane, s + 1);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) multiply_add(sum[i][j], f[s % 2].a[i], &f[s % 2].b[2 * j]);
    }
  }

  // row, col: of its first element.
  __device__ __forceinline__ void store(float* c, long long row, long long col, long long m, long long n, int lane) {
    row += lane / 4, col += lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float* v = sum[i][j];
        store2(c, row + i * 16, col + j * 8, m, n, v[0], v[1]);
        store2(c, row + i * 16 + 8, col + j * 8, m, n, v[2], v[3]);
      }
  }
};

using WarpTile = WarpTileOf<kRowBytes>;
