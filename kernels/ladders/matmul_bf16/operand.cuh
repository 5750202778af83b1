// A factor in a stage of shared memory, as the copy engine writes it and wgmma reads it: stored along k, or along its
// other dimension ("transposed"). Blocks of a cluster that share it request a part each, which all of them receive.
#pragma once
#include "../matmul/tma.cuh"
#include "tile.cuh"
#include "wgmma.cuh"

// Values: rows of A, or columns of B.
template <int Values, int Cluster, bool Transposed> struct Operand;

// A row of 128 bytes, 64 steps along k, for each value.
template <int Values, int Cluster> struct Operand<Values, Cluster, false> {
  static constexpr bool kTransposed = false;
  // Rows of a box, of eight, as the swizzling: where they do not divide the values, the last box of a cluster begins
  // early, and repeats some of the one before.
  static constexpr int kBox = (Values / 8 + Cluster - 1) / Cluster * 8;
  static constexpr int kBytes = Values * kRowBytes, kArriving = Cluster * kBox * kRowBytes;
  static_assert(Values % 8 == 0 && kBox <= Values && Values <= 256, "boxes");

  // Requests the part of a block of the cluster, from a value and a stage along k on.
  static __device__ __forceinline__ void copy(unsigned char* to, const CUtensorMap* map, int value, int step, int rank,
                                              Barrier* there) {
    const int first = Cluster == 1 ? 0 : min(rank * kBox, Values - kBox);
    copy_box_to<Cluster>(to + first * kRowBytes, map, value + first, step * kDepth, there, (1 << Cluster) - 1);
  }
  // The s-th 16 steps along k of a stage; tile: at a multiple of 64 values.
  static __device__ __forceinline__ unsigned long long describe(const unsigned char* tile, int s) {
    return describe_tile(tile + s * 32);
  }
  // The first value of a tile that would reach beyond the matrix: earlier, so that it is inside.
  static __device__ __forceinline__ int move_inside(int value, int size) {
    return min(value, max(0, (size - Values + 7) & ~7));
  }
};

// Panels of 64 values, 128 bytes, by 64 steps along k.
template <int Values, int Cluster> struct Operand<Values, Cluster, true> {
  static constexpr bool kTransposed = true;
  static constexpr int kPanelBytes = kDepth * kRowBytes;
  static constexpr int kBytes = Values * kRowBytes, kArriving = kBytes;
  static_assert(Values % 64 == 0 && Values <= 256, "panels");

  static __device__ __forceinline__ void copy(unsigned char* to, const CUtensorMap* map, int value, int step, int rank,
                                              Barrier* there) {
    const int first = Cluster == 1 ? 0 : rank * (kDepth / Cluster);  // along k
#pragma unroll
    for (int i = 0; i < Values / 64; ++i)
      copy_box_to<Cluster>(to + i * kPanelBytes + first * kRowBytes, map, step * kDepth + first, value + i * 64, there,
                           (1 << Cluster) - 1);
  }
  static __device__ __forceinline__ unsigned long long describe(const unsigned char* tile, int s) {
    return describe_panels(tile + s * 16 * kRowBytes);
  }
  // It stays: from places that are no multiples of 16 bytes the engine does not read (illegal instruction).
  static __device__ __forceinline__ int move_inside(int value, int) { return value; }
};
