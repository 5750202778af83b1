// How the 32 lanes of a warp lie on its tile of C: 8 rows of lanes, 4 columns of lanes.
//
// A 16-byte shared load is served half a warp at a time, and only if lanes 2i and 2i + 1, or lanes
// i and i + 2, ask for the same address. So the lowest lane bit chooses among columns alone and the
// next one among rows alone: both fragments then take two passes, the least there is.
#pragma once

constexpr int kLaneRows = 8;
constexpr int kLaneCols = 4;

__device__ __forceinline__ int lane_row(int lane) { return lane >> 1 & 7; }
__device__ __forceinline__ int lane_col(int lane) { return (lane & 1) | (lane >> 3 & 2); }
