// Four neighbours of a row: one access if the row is aligned, else one by one.
#pragma once

// Whether each row of `cols` floats is aligned to 16 bytes.
__device__ __forceinline__ bool rows_aligned(const float* p, long long cols) {
  return cols % 4 == 0 && reinterpret_cast<unsigned long long>(p) % 16 == 0;
}

// p[row][col .. col + 3] of a row-major (rows, cols) matrix; zeros outside. col: a multiple of 4.
__device__ __forceinline__ float4 load4(const float* p, long long row, long long col, long long rows, long long cols,
                                        bool aligned) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows || col >= cols) return v;
  const float* q = p + row * cols + col;
  if (aligned) return *reinterpret_cast<const float4*>(q);  // cols is a multiple of 4: all inside
  v.x = q[0];
  if (col + 1 < cols) v.y = q[1];
  if (col + 2 < cols) v.z = q[2];
  if (col + 3 < cols) v.w = q[3];
  return v;
}

// The counterpart of load4, for rows that are `pitch` floats apart; elements outside are not written.
__device__ __forceinline__ void store4(float* p, long long row, long long col, long long rows, long long cols,
                                       long long pitch, bool aligned, float4 v) {
  if (row >= rows || col >= cols) return;
  float* q = p + row * pitch + col;
  if (aligned && col + 3 < cols) {
    *reinterpret_cast<float4*>(q) = v;
    return;
  }
  q[0] = v.x;
  if (col + 1 < cols) q[1] = v.y;
  if (col + 2 < cols) q[2] = v.z;
  if (col + 3 < cols) q[3] = v.w;
}
