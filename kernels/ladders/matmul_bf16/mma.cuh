// ldmatrix and mma.sync m16n8k16 (sm_80+). Of lane l, with g = l / 4 and t = l % 4:
//   A, 16 x 16: a[0] row g, columns 2t and 2t + 1; a[1] row g + 8; a[2] column + 8; a[3] both
//   B, 16 x 8:  b[0] column g, rows 2t and 2t + 1; b[1] row + 8
//   C, 16 x 8:  c[0], c[1] row g, columns 2t and 2t + 1; c[2], c[3] row g + 8
// (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type")
#pragma once
#include "../matmul/async_copy.cuh"

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
