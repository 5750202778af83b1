// title: stages by the copy engine
// idea: one thread requests whole tiles (TMA), so that no thread computes addresses or copies; tiles of A
//       stay row-major and swizzled, and a thread reads four steps along k of each of its rows at once
// maps: a 128x32 swizzle128, b 32x128
// block: 128
// grid: ceil(m / 128) * ceil(n / 128)
// shared: 3 * 2 * 128 * 128 + 1024
// needs: sm_90a, sm_120
// source: CUDA C++ Programming Guide, tensor memory access
#include "lanes.cuh"
#include "tile_order.cuh"
#include "tma.cuh"
#include "vec4.cuh"

constexpr int kTile = 128, kDepth = 32, kStages = 3, kThreads = 128;
constexpr int kTileBytes = kTile * kDepth * 4, kStageBytes = 2 * kTileBytes;
constexpr int kWarpTile = 64;

__constant__ CUtensorMap c_map_a, c_map_b;

__device__ __forceinline__ void copy_stage(unsigned char* shared, Barrier* full, Tile tile, int t) {
  const int stage = t % kStages;
  unsigned char* to = shared + stage * kStageBytes;
  expect(full + stage, kStageBytes);
  copy_box(to, &c_map_a, (int)tile.row, t * kDepth, full + stage);
  copy_box(to + kTileBytes, &c_map_b, t * kDepth, (int)tile.col, full + stage);
}

// Four steps along k. Row r of the thread is row 8 r + lane_row of the warp's tile; the swizzle permutes
// its 16-byte pieces by the lowest three bits of the row, which are lane_row.
__device__ __forceinline__ void multiply(float (&sum)[8][16], const unsigned char* a, const float* b, int piece,
                                         int place) {
  float4 rows[8];
#pragma unroll
  for (int r = 0; r < 8; ++r)
    rows[r] = *reinterpret_cast<const float4*>(a + r * 8 * kDepth * 4 + ((piece ^ place) << 4));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float cols[16];
#pragma unroll
    for (int g = 0; g < 4; ++g)
      *reinterpret_cast<float4*>(cols + 4 * g) =
          *reinterpret_cast<const float4*>(b + (piece * 4 + i) * kTile + g * 4 * kLaneCols);
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      const float value = i == 0 ? rows[r].x : i == 1 ? rows[r].y : i == 2 ? rows[r].z : rows[r].w;
#pragma unroll
      for (int q = 0; q < 16; ++q) sum[r][q] = fmaf(value, cols[q], sum[r][q]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    matmul(const float*, const float*, float* __restrict__ c, long long m, long long n, long long k) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Barrier* full = reinterpret_cast<Barrier*>(shared + kStages * kStageBytes);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int y = warp / 2 * kWarpTile + lane_row(lane), x = warp % 2 * kWarpTile + lane_col(lane) * 4;
  const Tile tile = tile_of<kTile, kTile, 16>(blockIdx.x, m, n);
  const int tiles = static_cast<int>((k + kDepth - 1) / kDepth);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) make_barrier(full + s, 1);
    publish_barriers();
    for (int t = 0; t < kStages && t < tiles; ++t) copy_stage(shared, full, tile, t);
  }
  __syncthreads();

  float sum[8][16] = {};
  Ring<kStages> ring;
  for (int t = 0; t < tiles; ++t, ring.advance()) {
    wait(full + ring.stage, ring.parity);
    const unsigned char* stage = shared + ring.stage * kStageBytes;
    const unsigned char* a = stage + y * kDepth * 4;
    const float* b = reinterpret_cast<const float*>(stage + kTileBytes) + x;
#pragma unroll 2
    for (int piece = 0; piece < kDepth / 4; ++piece) multiply(sum, a, b, piece, lane_row(lane));
    __syncthreads();  // all have read the stage
    if (threadIdx.x == 0 && t + kStages < tiles) copy_stage(shared, full, tile, t + kStages);
  }

  const bool aligned = rows_aligned(c, n);
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int g = 0; g < 4; ++g)
      store4(c, tile.row + y + r * 8, tile.col + x + g * 4 * kLaneCols, m, n, aligned,
             make_float4(sum[r][4 * g], sum[r][4 * g + 1], sum[r][4 * g + 2], sum[r][4 * g + 3]));
}
