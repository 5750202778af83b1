// The plan of the rungs with tiles: one compilation for each tile and each layout of the operands. The host side
// defines the macros (raytracer/benchmark/products/tile.py); without them, 128 x 256.
#pragma once
#include "unit_pipeline.cuh"

#ifndef WARP_ROWS
#define WARP_ROWS 2
#define WARP_COLS 4
#define GROUPS 4
#define PER_SM 1
#define STAGES 4
#define ALONG_M 0
#define ALONG_K 0
#define WIDE_A 0
#define WIDE_B 1
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef UNALIGNED_C
#define UNALIGNED_C 0
#endif
#ifndef ROWS_OF_C  // of a rung, not of a tile
#define ROWS_OF_C 0
#endif

struct Plan : UnitPlan {
  static constexpr int kWarpRows = WARP_ROWS, kWarpCols = WARP_COLS, kGroups = GROUPS, kStages = STAGES;
  static constexpr int kParts = PARTS;
  static constexpr bool kAlongM = ALONG_M, kAlongK = ALONG_K, kWideA = WIDE_A, kWideB = WIDE_B;
  static constexpr bool kRowsOfC = ROWS_OF_C && UNALIGNED_C;
};

__device__ __forceinline__ void run_units(const UnitArgs& args) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& stages = *reinterpret_cast<UnitPipeline<Plan>::Shared*>(shared);
  if constexpr (Plan::kParts > 1) {
    UnitPipeline<Plan>::run_part(stages, args);
  } else {
    __shared__ Units::Walk walk;
    UnitPipeline<Plan>::run(stages, walk, args);
  }
}
