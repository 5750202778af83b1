// Rows of C that are not aligned to 16 bytes, written by neighbouring lanes.
//
// A thread holds four neighbours of a row. One by one, a warp writes them to 32 places that are 16 bytes apart: each
// store touches 16 sectors of the L2 cache (of 32 bytes), four times. Here the warp exchanges the values in shared
// memory first; then its lanes write neighbours, 128 bytes or five sectors a store.
#pragma once
#include "lanes.cuh"

template <int Groups> struct UnitRows {
  static constexpr int kCols = Groups * 4 * kLaneCols;
  static_assert(kCols % 32 == 0, "shape");
  float value[kLaneRows][kCols + 8];  // the first writes of eight lanes use 32 banks

  // The rows row, row + 4, ... of C, one for each row of lanes, from column col on. All lanes of a warp.
  __device__ __forceinline__ void write(float* c, long long pitch, int row, int col, int m, int n,
                                        const float (&sum)[4 * Groups]) {
    const int lane = threadIdx.x % 32;
    __syncwarp();  // the values before have been read
#pragma unroll
    for (int g = 0; g < Groups; ++g)
      *reinterpret_cast<float4*>(&value[lane_row(lane)][g * 4 * kLaneCols + lane_col(lane) * 4]) =
          make_float4(sum[4 * g], sum[4 * g + 1], sum[4 * g + 2], sum[4 * g + 3]);
    __syncwarp();
    float* to = c + row * pitch + col + lane;
#pragma unroll
    for (int y = 0; y < kLaneRows; ++y, to += 4 * pitch)
#pragma unroll
      for (int x = 0; x < kCols; x += 32)
        if (row + 4 * y < m && col + x + lane < n) to[x] = value[y][x + lane];
  }
};
