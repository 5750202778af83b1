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
