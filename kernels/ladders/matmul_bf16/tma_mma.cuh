// TMA, mbarriers, ldmatrix and mma.sync: a block computes 128 x 128 of C, four warps 64 x 64 each.
// RowBytes: bytes per row of the tile of a stage, 64 or 128, which is also the swizzle.
#pragma once
#include "../matmul/tile_order.cuh"
#include "../matmul/tma.cuh"
#include "mma.cuh"
#include "store.cuh"
#include "swizzle.cuh"

template <int RowBytes, int Stages> struct TmaMma {
  static constexpr int kTile = 128, kWarpTile = 64, kWarps = 4;
  static constexpr int kDepth = RowBytes / 2;  // values along k per stage
  static constexpr int kTileBytes = kTile * RowBytes;
  static constexpr int kStageBytes = 2 * kTileBytes;
  static constexpr int kSteps = kDepth / 16;

  struct Fragments {
    unsigned a[4][4];
    unsigned b[16];
  };
  using Sums = float[4][8][4];

  unsigned char* shared;  // [Stages][2][kTile][RowBytes]
  Barrier *full, *empty;  // [Stages]
  int tiles;              // along k

  __device__ __forceinline__ TmaMma(unsigned char* bytes, long long k)
      : shared(bytes),
        full(reinterpret_cast<Barrier*>(bytes + Stages * kStageBytes)),
        empty(full + Stages),
        tiles(static_cast<int>((k + kDepth - 1) / kDepth)) {}

  // By one thread; a block barrier must follow.
  __device__ __forceinline__ void make_barriers() {
    for (int s = 0; s < Stages; s++) {
      make_barrier(full + s, 1);
      make_barrier(empty + s, kWarps);
    }
    publish_barriers();
  }
  // Requests tile t of A and B; by one thread, when the stage is free.
  __device__ __forceinline__ void copy(const CUtensorMap* a, const CUtensorMap* b, Tile tile, int t, int stage) {
    unsigned char* to = shared + stage * kStageBytes;
    expect(full + stage, kStageBytes);
    copy_box(to, a, static_cast<int>(tile.row), t * kDepth, full + stage);
    copy_box(to + kTileBytes, b, static_cast<int>(tile.col), t * kDepth, full + stage);
  }
  static __device__ __forceinline__ const unsigned char* chunk(const unsigned char* tile, int row, int chunk) {
    return tile + swizzle<RowBytes>(row * RowBytes + chunk * 16);
  }
  // For the warp whose part of the stage begins at row y of A and row x of B; see 02_mma_swizzled.
  static __device__ __forceinline__ void load(Fragments& f, const unsigned char* stage, int y, int x, int lane,
                                              int step) {
#pragma unroll
    for (int i = 0; i < 4; ++i) load_matrices(f.a[i], chunk(stage, y + i * 16 + lane % 16, 2 * step + lane / 16));
#pragma unroll
    for (int i = 0; i < 4; ++i)
      load_matrices(&f.b[4 * i],
                    chunk(stage + kTileBytes, x + i * 16 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
  }
  static __device__ __forceinline__ void multiply(Sums& sum, const unsigned char* stage, int y, int x, int lane) {
    Fragments f[2];
    load(f[0], stage, y, x, lane, 0);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (s + 1 < kSteps) load(f[(s + 1) % 2], stage, y, x, lane, s + 1);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) multiply_add(sum[i][j], f[s % 2].a[i], &f[s % 2].b[2 * j]);
    }
  }
  static __device__ __forceinline__ void write(float* c, const Sums& sum, Tile tile, int y, int x, int lane,
                                               long long m, long long n) {
    const long long row = tile.row + y + lane / 4, col = tile.col + x + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float* v = sum[i][j];
        store2(c, row + i * 16, col + j * 8, m, n, v[0], v[1]);
        store2(c, row + i * 16 + 8, col + j * 8, m, n, v[2], v[3]);
      }
  }

  // All four warps multiply; thread 0 also requests the copies.
  __device__ __forceinline__ void run(const CUtensorMap* a, const CUtensorMap* b, float* c, Tile tile, long long m,
                                      long long n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int y = warp / 2 * kWarpTile, x = warp % 2 * kWarpTile;
    if (threadIdx.x == 0) {
      make_barriers();
      for (int t = 0; t < Stages && t < tiles; ++t) copy(a, b, tile, t, t);
    }
    __syncthreads();
    Sums sum = {};
    Ring<Stages> ring;
    for (int t = 0; t < tiles; ++t, ring.advance()) {
      wait(full + ring.stage, ring.parity);
      multiply(sum, shared + ring.stage * kStageBytes, y, x, lane);
      __syncthreads();  // all have read the stage
      if (threadIdx.x == 0 && t + Stages < tiles) copy(a, b, tile, t + Stages, ring.stage);
    }
    write(c, sum, tile, y, x, lane, m, n);
  }

  // Warp 4 requests the copies and waits at `empty` for the stages; the others only multiply.
  __device__ __forceinline__ void run_specialised(const CUtensorMap* a, const CUtensorMap* b, float* c, Tile tile,
                                                  long long m, long long n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) make_barriers();
    __syncthreads();
    Ring<Stages> ring;
    if (warp == kWarps) {
      if (lane != 0) return;
      for (int t = 0; t < tiles; ++t, ring.advance()) {
        if (t >= Stages) wait(empty + ring.stage, ring.parity ^ 1);
        copy(a, b, tile, t, ring.stage);
      }
      return;
    }
    const int y = warp / 2 * kWarpTile, x = warp % 2 * kWarpTile;
    Sums sum = {};
    for (int t = 0; t < tiles; ++t, ring.advance()) {
      wait(full + ring.stage, ring.parity);
      multiply(sum, shared + ring.stage * kStageBytes, y, x, lane);
      __syncwarp();
      if (lane == 0) arrive(empty + ring.stage);
    }
    write(c, sum, tile, y, x, lane, m, n);
  }
};
