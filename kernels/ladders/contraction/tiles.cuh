// The gradient by register tiles: a thread has several rows of d in registers and computes these rows of
// the result for a pack of lines at a time, so that all of them use a value loaded from shared memory.
//
// A team, one warp or the whole block, computes a group of elements. Within it a thread has a role
// (rows), a pack (k) and a slot (remaining lines):
//   x: rows are i, slots run over (element, j)     y: rows are j, slots run over (element, i)
//   z: rows are k, slots and packs run over (element, i, j)
#pragma once
#include "contraction.cuh"

namespace rt {

RT_HD constexpr int min_int(int a, int b) { return a < b ? a : b; }
RT_HD constexpr int max_int(int a, int b) { return a < b ? b : a; }

// Rows of d per thread: with n values each, at most 80 registers.
constexpr int kRows = min_int(kN, sizeof(Real) == 4 || kN <= 8 ? 4 : 2);
static_assert(kRows % kWidth == 0, "the rows of a role are whole packs");
constexpr int kRoles = (kN + kRows - 1) / kRows;
constexpr int kInner = kWide * kRoles;  // threads that share a slot
constexpr int kBlocksOf128 = kN <= 16 ? 4 : 3;  // resident on a multiprocessor, limited by registers

// A plane (i) of an element in shared memory is padded by one line, so that the planes of a quarter of a
// warp, which y reads together, are in different banks.
constexpr int kStagedPlane = kPlaneSize + kLine;
constexpr int kStagedElement = kN * kStagedPlane;

// Row p of a role: packs of rows, assigned to the roles in turn, so that z stores whole sectors.
RT_DEVICE int row_of(int role, int p) { return p / kWidth * (kWidth * kRoles) + role * kWidth + p % kWidth; }

// Partition of a block into teams. kWarps: a warp is a team if the group fits, and needs no block barrier.
// kCopies: groups of a team in shared memory at a time.
template <int kBlockThreads, bool kWarps, int kCopies>
struct Teams {
  static constexpr int group(int threads) { return max_int(1, threads / (kInner * kN)); }
  static constexpr int bytes(int threads) { return group(threads) * kStagedElement * (int)sizeof(Real); }
  static constexpr bool kByWarp = kWarps && kInner <= 32 && kBlockThreads / 32 * kCopies * bytes(32) <= kStaticShared;
  static constexpr int kThreads = kByWarp ? 32 : kBlockThreads;
  static constexpr int kTeams = kBlockThreads / kThreads;
  static constexpr int kGroup = group(kThreads);  // elements
  static constexpr int kSlots = kThreads / kInner;
  static constexpr bool kStaged = bytes(kThreads) <= kStaticShared;
  static constexpr int kBuffers = kStaged ? (kCopies * bytes(kThreads) <= kStaticShared ? kCopies : 1) : 0;
  static constexpr int kPlane = kStaged ? kStagedPlane : kPlaneSize;  // stride of planes where u is read
  static constexpr int kPacks = kBuffers * kGroup * kStagedElement / kWidth;  // of shared memory, per team
  static constexpr int kShared = max_int(1, kTeams* kPacks);  // of the block; an array has at least one element
  static_assert(kSlots >= 1, "the threads that share a slot fit into a team");
  static_assert(kShared * (int)sizeof(Pack) <= kStaticShared, "static shared memory");

  static RT_DEVICE int thread() { return threadIdx.x % kThreads; }
  static RT_DEVICE int team() { return threadIdx.x / kThreads; }
  static RT_DEVICE void sync() {
    if constexpr (kByWarp)
      __syncwarp();
    else
      __syncthreads();
  }
};

// The part of a thread of a team.
struct Place {
  int k;  // first k of its pack
  int role, slot;
};
template <class Team>
RT_DEVICE Place place_of() {
  int t = Team::thread();
  return {t % kWide * kWidth, t / kWide % kRoles, t / kInner};
}

// Whether row < n: if n is not a multiple of the rows per role, the last role has fewer rows.
RT_DEVICE bool exists(int row) { return kN % kRows == 0 || row < kN; }

using Rows = Real[kRows][kN];

RT_DEVICE void load_rows(Rows& rows, const Real* d, int role) {
#pragma unroll
  for (int p = 0; p < kRows; p++) {
    int row = row_of(role, p);
#pragma unroll
    for (int l = 0; l < kN; l += kWidth) {
      Pack pack = exists(row) ? load_pack(d + row * kN + l) : Pack{};
#pragma unroll
      for (int w = 0; w < kWidth; w++) rows[p][l + w] = pack.v[w];
    }
  }
}

// The rows of one pack of lines: out[p] += rows[p][l] * line[l], with the lines at u[l * stride].
RT_DEVICE void apply_rows(Pack (&out)[kRows], const Rows& rows, const Real* u, int stride) {
#pragma unroll
  for (int l = 0; l < kN; l++) {
    Pack line = load_pack(u + l * stride);
#pragma unroll
    for (int p = 0; p < kRows; p++)
#pragma unroll
      for (int w = 0; w < kWidth; w++) out[p].v[w] = multiply_add(rows[p][l], line.v[w], out[p].v[w]);
  }
}

// x or y: the results of a slot, row by row, stride apart.
RT_DEVICE void store_rows(Real* to, int stride, const Pack (&out)[kRows], int role) {
#pragma unroll
  for (int p = 0; p < kRows; p++) {
    int row = row_of(role, p);
    if (exists(row)) store_pack(to + row * stride, out[p]);
  }
}

// z: the rows of a role along one line.
RT_DEVICE void gradient_line(Real* to, const Rows& rows, const Real* line, int role) {
  Pack out[kRows / kWidth] = {};
#pragma unroll
  for (int l = 0; l < kN; l += kWidth) {
    Pack pack = load_pack(line + l);
#pragma unroll
    for (int w = 0; w < kWidth; w++)
#pragma unroll
      for (int p = 0; p < kRows; p++) {
        Real& sum = out[p / kWidth].v[p % kWidth];
        sum = multiply_add(rows[p][l + w], pack.v[w], sum);
      }
  }
#pragma unroll
  for (int p = 0; p < kRows; p += kWidth) {
    int row = row_of(role, p);
    if (exists(row)) store_pack(to + row, out[p / kWidth]);
  }
}

// All three derivatives of `count` elements; u with planes Team::kPlane apart.
template <class Team>
RT_DEVICE void gradient_group(const Rows& rows, Place place, const Real* u, Real* gx, Real* gy, Real* gz, int count) {
  if (place.slot >= Team::kSlots) return;
  for (int m = place.slot; m < count * kN; m += Team::kSlots) {
    int e = m / kN, j = m % kN;
    Pack out[kRows] = {};
    apply_rows(out, rows, u + e * kN * Team::kPlane + j * kN + place.k, Team::kPlane);
    store_rows(gx + e * kSize + j * kN + place.k, kPlaneSize, out, place.role);
  }
  for (int m = place.slot; m < count * kN; m += Team::kSlots) {
    Pack out[kRows] = {};
    apply_rows(out, rows, u + m * Team::kPlane + place.k, kN);
    store_rows(gy + m * kPlaneSize + place.k, kN, out, place.role);
  }
  int lines = Team::kSlots * kWide;
  for (int m = place.slot * kWide + place.k / kWidth; m < count * kPlaneSize; m += lines)
    gradient_line(gz + m * kN, rows, u + m / kN * Team::kPlane + m % kN * kN, place.role);
}

}  // namespace rt
