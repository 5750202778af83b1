// The plan of the rungs with tiles: one compilation for each tile and each layout of the operands. The host side
// defines the macros (raytracer/benchmark/products/tile.py); without them, 128 x 256.
#pragma once
#include "product.cuh"

#ifndef GROUPS
#define GROUPS 2
#define BLOCKS 1
#define TURNS 0
#define COLS 256
#define STAGES 4
#define CLUSTER 1
#define CHUNKS 2
#define TRANSPOSED_A 0
#define TRANSPOSED_B 0
#define C_FLOAT 1
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef ACROSS
#define ACROSS 1
#endif
#ifndef SWAPPED
#define SWAPPED 0
#endif
#ifndef INSIDE
#define INSIDE 0
#endif
#ifndef EARLY
#define EARLY 0
#endif

struct Plan : ProductPlan {
  static constexpr int kGroups = GROUPS, kBlocks = BLOCKS, kCols = COLS, kStages = STAGES;
  static constexpr int kCluster = CLUSTER, kChunks = CHUNKS;
  static constexpr int kAcross = ACROSS, kParts = PARTS;
  static constexpr bool kSwapped = SWAPPED, kInside = INSIDE;
  static constexpr bool kEarly = EARLY;
  static constexpr bool kTurns = TURNS, kTransposedA = TRANSPOSED_A, kTransposedB = TRANSPOSED_B;
  using Out = std::conditional_t<C_FLOAT, float, __nv_bfloat16>;
};

__device__ __forceinline__ void run_product(const ProductArgs& args) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Product<Plan>(args, shared).run();
}
