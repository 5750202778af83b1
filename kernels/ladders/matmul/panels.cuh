// Tiles of C whose stages are copied by the copy engine as panels of 64 rows of A and 64 columns of B, 32
// steps along k deep; for products of any size.
//
// Four warps, each with a 64 x 64 tile (8 x 16 per thread). With Slices = 1 they are the quarters of a
// 128 x 128 tile. With Slices = 4 all have the same 64 x 64 tile, each a quarter of every stage along k, and
// their sums are added at the end: four times the blocks, for products that are too small to fill the GPU.
#pragma once
#include "lanes.cuh"
#include "tile_order.cuh"
#include "tma.cuh"
#include "vec4.cuh"

namespace panels {

constexpr int kThreads = 128;
constexpr int kPanel = 64, kDepth = 32;
constexpr int kPanelBytes = kPanel * kDepth * 4;
constexpr int kSharedBytes = 12 * kPanelBytes;  // without 1024 bytes for barriers
constexpr int kStep = 4;                         // steps along k in a 16-byte piece of a row of A

template <int Slices>
struct Product {
  static constexpr int kSides = Slices == 1 ? 2 : 1;  // panels of A, and of B, in a stage
  static constexpr int kTile = kSides * kPanel;
  static constexpr int kStages = 12 / (2 * kSides);
  static constexpr int kPieces = kDepth / kStep / Slices;  // of a stage, for each warp
  static_assert(kPieces % 2 == 0, "two sets of rows");

  const CUtensorMap *map_a, *map_b;
  unsigned char* shared;
  Tile tile;
  int tiles;
  const unsigned char* a;  // this thread's first row of the first stage
  const unsigned char* b;  // its first columns
  int place, first;        // row of the lane, which determines the swizzle; first piece

  __device__ __forceinline__ Barrier* full(int stage) const {
    return reinterpret_cast<Barrier*>(shared + kSharedBytes) + stage;
  }

  __device__ __forceinline__ void copy(int t) const {
    const int stage = t % kStages;
    unsigned char* to = shared + stage * 2 * kSides * kPanelBytes;
    expect(full(stage), 2 * kSides * kPanelBytes);
#pragma unroll
    for (int i = 0; i < kSides; ++i) {
      copy_box(to + i * kPanelBytes, map_a, (int)tile.row + i * kPanel, t * kDepth, full(stage));
      copy_box(to + (kSides + i) * kPanelBytes, map_b, t * kDepth, (int)tile.col + i * kPanel, full(stage));
    }
  }

  // Four steps of eight rows: row r is row 8 r + lane_row of the panel.
  __device__ __forceinline__ void load_rows(float4 (&rows)[8], int stage, int piece) const {
    const unsigned char* from = a + stage * (2 * kSides * kPanelBytes) + ((first + piece ^ place) << 4);
#pragma unroll
    for (int r = 0; r < 8; ++r) rows[r] = *reinterpret_cast<const float4*>(from + r * 8 * kDepth * 4);
  }

  __device__ __forceinline__ void load_cols(float (&cols)[16], int stage, int piece, int i) const {
    const unsigned char* from = b + stage * (2 * kSides * kPanelBytes) + ((first + piece) * kStep + i) * kPanel * 4;
#pragma unroll
    for (int g = 0; g < 4; ++g)
      *reinterpret_cast<float4*>(cols + 4 * g) = *reinterpret_cast<const float4*>(from + g * 16 * kLaneCols);
  }

  // During the multiply-adds of one step the columns of the next are loaded from shared memory, and with
  // the first of four steps also the next four steps of the rows.
  __device__ __forceinline__ void sum_up(float (&sum)[8][16]) const {
    float4 rows[2][8];
    float cols[2][16];
    Ring<kStages> ring, next;
    wait(full(0), 0);
    load_rows(rows[0], 0, 0);
    load_cols(cols[0], 0, 0, 0);
    for (int t = 0; t < tiles; ++t) {
      next.advance();
#pragma unroll 1
      for (int pair = 0; pair < kPieces; pair += 2) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int piece = pair + half;
          const bool last = half == 1 && piece == kPieces - 1;
          if (last && t + 1 < tiles) wait(full(next.stage), next.parity);
          const int stage_after = last ? next.stage : ring.stage, piece_after = last ? 0 : piece + 1;
          load_rows(rows[1 - half], stage_after, piece_after);
#pragma unroll
          for (int i = 0; i < kStep; ++i) {
            if (i + 1 < kStep)
              load_cols(cols[(i + 1) % 2], ring.stage, piece, i + 1);
            else
              load_cols(cols[0], stage_after, piece_after, 0);
#pragma unroll
            for (int r = 0; r < 8; ++r) {
              const float4 row = rows[half][r];
              const float value = i == 0 ? row.x : i == 1 ? row.y : i == 2 ? row.z : row.w;
#pragma unroll
              for (int q = 0; q < 16; ++q) sum[r][q] = fmaf(value, cols[i % 2][q], sum[r][q]);
            }
          }
        }
      }
      __syncthreads();  // all have read the stage
      if (threadIdx.x == 0 && t + kStages < tiles) copy(t + kStages);
      ring = next;
    }
  }

  // The warps add the sums of the slices in order, each two of the eight rows of a thread.
  __device__ __forceinline__ void add_slices(const float (&sum)[8][16], float* c, int x, long long m,
                                             long long n) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float4* parts = reinterpret_cast<float4*>(shared);  // [slice][row][group][lane]
    const bool aligned = rows_aligned(c, n);
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
      for (int g = 0; g < 4; ++g)
        parts[((warp * 8 + r) * 4 + g) * 32 + lane] =
            make_float4(sum[r][4 * g], sum[r][4 * g + 1], sum[r][4 * g + 2], sum[r][4 * g + 3]);
    __syncthreads();
#pragma unroll
    for (int r = 2 * warp; r < 2 * warp + 2; ++r)
#pragma unroll
      for (int g = 0; g < 4; ++g) {
        float4 v = parts[(r * 4 + g) * 32 + lane];
#pragma unroll
        for (int slice = 1; slice < Slices; ++slice) {
          const float4 w = parts[((slice * 8 + r) * 4 + g) * 32 + lane];
          v = make_float4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
        }
        store4(c, tile.row + r * 8 + place, tile.col + x + g * 4 * kLaneCols, m, n, aligned, v);
      }
  }

  __device__ __forceinline__ void run(unsigned char* memory, const CUtensorMap* a_map, const CUtensorMap* b_map,
                                      float* c, long long block, long long m, long long n, long long k) {
    map_a = a_map, map_b = b_map, shared = memory;
    tile = tile_of<kTile, kTile, 16 * 2 / kSides>(block, m, n);
    tiles = static_cast<int>((k + kDepth - 1) / kDepth);
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) make_barrier(full(s), 1);
      publish_barriers();
      for (int t = 0; t < kStages && t < tiles; ++t) copy(t);
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int down = Slices == 1 ? warp / 2 : 0, across = Slices == 1 ? warp % 2 : 0;
    const int x = lane_col(lane) * 4;
    place = lane_row(lane);
    first = Slices == 1 ? 0 : warp * kPieces;
    a = shared + down * kPanelBytes + place * kDepth * 4;
    b = shared + (kSides + across) * kPanelBytes + x * 4;
    __syncthreads();

    float sum[8][16] = {};
    sum_up(sum);
    if constexpr (Slices > 1) {
      add_slices(sum, c, x, m, n);
    } else {
      const bool aligned = rows_aligned(c, n);
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int g = 0; g < 4; ++g)
          store4(c, tile.row + down * kPanel + r * 8 + place, tile.col + across * kPanel + x + g * 4 * kLaneCols, m, n,
                 aligned, make_float4(sum[r][4 * g], sum[r][4 * g + 1], sum[r][4 * g + 2], sum[r][4 * g + 3]));
    }
  }
};

}  // namespace panels
