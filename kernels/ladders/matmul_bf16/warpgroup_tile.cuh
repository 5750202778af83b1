// What a block of the first wgmma rungs computes: a tile of 128 x 256 of C, of which each of two warpgroups has 64 rows, in
// stages of 64 along k.
#pragma once
#include "../matmul/tile_order.cuh"
#include "mma.cuh"
#include "wgmma.cuh"

constexpr int kRows = 128, kCols = 256;  // of C per block
constexpr int kGroups = 2, kGroupRows = kRows / kGroups;
constexpr int kStages = 4;
constexpr int kBytesA = kRows * kRowBytes, kStageBytes = kBytesA + kCols * kRowBytes;

using Sums = float[kCols / 2];  // of a thread; layout: wgmma.cuh

// Starts the products of a stage, rows of A and then columns of B, as one group of wgmma.
__device__ __forceinline__ void multiply_stage(Sums& sum, const unsigned char* stage, int group) {
  const unsigned char* rows = stage + group * kGroupRows * kRowBytes;
  const unsigned char* cols = stage + kBytesA;
  fence_registers();
#pragma unroll
  for (int s = 0; s < kDepth / 16; ++s)
    Wgmma<kCols, false, false>::run(sum, describe_tile(rows + s * 32), describe_tile(cols + s * 32), 1);
  commit_products();
}

// The sums of a warpgroup, from the registers of its threads.
__device__ __forceinline__ void store_sums(float* c, const Sums& sum, Tile tile, int group, long long m, long long n) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const long long row = tile.row + group * kGroupRows + warp * 16 + lane / 4, col = tile.col + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < kCols / 8; ++j) {
    store2(c, row, col + j * 8, m, n, sum[4 * j], sum[4 * j + 1]);
    store2(c, row + 8, col + j * 8, m, n, sum[4 * j + 2], sum[4 * j + 3]);
  }
}
