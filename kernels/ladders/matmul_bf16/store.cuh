// Two neighbours of a row of C: one access if aligned.
#pragma once

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
