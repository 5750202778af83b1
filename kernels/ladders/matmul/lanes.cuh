// Assignment of the 32 lanes of a warp to its tile of C: 8 rows of lanes, 4 columns of lanes.
//
// A 16-byte shared load is served half a warp at a time, and only if lanes 2i and 2i + 1, or lanes
// i and i + 2, read the same address. Therefore the lowest lane bit selects columns alone and the next
// one rows alone: both fragments then take two wavefronts, the minimum.
#pragma once

constexpr int kLaneRows = 8;
constexpr int kLaneCols = 4;

__device__ __forceinline__ int lane_row(int lane) { return lane >> 1 & 7; }
__device__ __forceinline__ int lane_col(int lane) { return (lane & 1) | (lane >> 3 & 2); }

// Four rows, or columns, of each lane, side by side.
constexpr int kRowStep = 4 * kLaneRows, kColStep = 4 * kLaneCols;

// What a thread multiplies in a step: two groups of four rows of A, and kGroups of four columns of B.
template <int kGroups> struct Fragments {
  float a[8], b[4 * kGroups];

  __device__ __forceinline__ void load(const float* from_a, const float* from_b) {
#pragma unroll
    for (int h = 0; h < 2; ++h)
      *reinterpret_cast<float4*>(a + 4 * h) = *reinterpret_cast<const float4*>(from_a + h * kRowStep);
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      *reinterpret_cast<float4*>(b + 4 * g) = *reinterpret_cast<const float4*>(from_b + g * kColStep);
  }
};
