// The arguments of a product of any size, and what one of its compilations has chosen.
#pragma once
#include <cuda_bf16.h>

#include <type_traits>

#include "../matmul/units.cuh"
#include "operand.cuh"

// The host side has the same layout (raytracer/benchmark/products/kernel.py).
struct ProductArgs {
  CUtensorMap a, b, c;
  void* out;           // C, row-major
  long long out_cols;  // from row to row of C
  float4* parts;       // sums of parts of tiles, a slot for each block
  unsigned* flags;     // of each block and warpgroup: its part is there; zero between launches
  int m, n;
  Units units;
  int mapped;  // whether `c` may be used; otherwise rows of C are no aligned pieces of 16 bytes
};
static_assert(sizeof(ProductArgs) == 512, "raytracer/benchmark/products/kernel.py packs it");

// The host side defines the macros (raytracer/benchmark/products).
struct Plan {
  static constexpr int kGroups = GROUPS, kBlocks = BLOCKS;  // multiplying warpgroups, and blocks of 64 rows of each
  static constexpr bool kTurns = TURNS;     // two warpgroups take tiles in turns, instead of sharing each
  static constexpr int kCluster = CLUSTER;  // blocks with adjacent rows that share the columns of B
  static constexpr int kParts = PARTS;      // blocks of a cluster that divide each tile along k
  static constexpr int kCols = COLS, kStages = STAGES;
  static constexpr int kChunks = CHUNKS;  // staging of C, of 2 KB for each warp
  using Out = std::conditional_t<C_FLOAT, float, bf16>;

  static constexpr int kGroupRows = 64 * kBlocks, kRows = kTurns ? kGroupRows : kGroups * kGroupRows;
  static constexpr int kSharers = kTurns ? 1 : kGroups;  // warpgroups that read a stage
  static constexpr int kThreads = 128 * (1 + kGroups);
  static constexpr int kSums = kCols / 2;  // of a thread, of each block of 64 rows
  using Sums = float[kBlocks][kSums];
  // Of a thread that copies, and of one that multiplies, where the same number for all would not do.
  static constexpr int kFewRegisters = kGroups == 2 ? 40 : 32, kManyRegisters = kGroups == 2 ? 232 : 160;

  using A = Operand<kRows, 1, TRANSPOSED_A>;  // stored along m, not along k
  using B = Operand<kCols, kCluster, TRANSPOSED_B>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes, kChunkBytes = 4 * kGroups * kChunks * 2048;

  static_assert(!kTurns || kGroups == 2, "turns");
  static_assert(kParts == 1 || (kCluster == 1 && !kTurns && kSums >= 4 * kParts), "parts");
};

// A block among the others. Workers are blocks, or clusters.
struct Place {
  int rank = blockIdx.x % Plan::kCluster;  // among those that share columns of B
  int part = blockIdx.x % Plan::kParts;    // of a tile
  int worker = blockIdx.x / (Plan::kCluster * Plan::kParts), workers = gridDim.x / (Plan::kCluster * Plan::kParts);

  // First row and column of this block's tile. The last tiles move back into the matrix and repeat some sums of
  // their neighbours: the copy engine is slow where it fills in zeros. Both write the same bits, since all tiles are
  // summed up in the same order, unless some are divided along k.
  __device__ __forceinline__ void origin(const ProductArgs& args, Unit unit, int& row, int& col) const {
    args.units.place(unit.tile, row, col);
    row = (row * Plan::kCluster + rank) * Plan::kRows;
    col *= Plan::kCols;
    if (args.units.split_tiles == 0) row = Plan::A::move_inside(row, args.m), col = Plan::B::move_inside(col, args.n);
  }
};
