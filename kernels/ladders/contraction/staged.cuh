// Groups of elements of any n, in whole lines of 128 bytes of memory: a block computes a group, which is one contiguous
// piece of every array. The piece of u is copied to shared memory in 16-byte packs, a thread computes whole lines of an
// element, and derivatives return to shared memory and leave it in such packs, too.
#pragma once
#include <cuda_pipeline.h>

#include "lines.cuh"

namespace rt {

constexpr int kPack = 16 / (int)sizeof(Real);  // numbers of a 16-byte access

// Numbers of a 128-byte line of memory.
constexpr int kLineOfMemory = 128 / (int)sizeof(Real);
// Rows and planes of an element in shared memory. Rows of a multiple of 32 bytes would begin in few banks; the
// next plane begins in another bank than this one. The headers of rungs count this memory: keep them alike.
RT_HD constexpr int spread_row() { return kN * sizeof(Real) % 32 == 0 ? kN + kPack : kN; }
RT_HD constexpr int spread_plane() {
  return kN * spread_row() + (kN % 2 == 1 ? 0 : sizeof(Real) == 4 ? kN / 4 * 4 : 2);
}

// A group: 1 KB of the numbers of a line of elements, so that float64 has half the threads; a thread has one line along
// each axis.
constexpr int kLines = 1024 / (int)sizeof(Real);
constexpr int kGroup = kLines < 2 * kPlaneSize ? 1 : kLines / kPlaneSize;  // elements
constexpr int kThreads = (kGroup * kPlaneSize + 31) / 32 * 32;
// How many groups ahead of its own a block requests for the L2 cache: 3.4 MB, but beyond the groups that are
// computed at the same time (three blocks on each of 132 multiprocessors). Larger groups are far enough apart.
constexpr int kGroupBytes = kGroup * kSize * (int)sizeof(Real);
constexpr int kAhead = kGroupBytes > 18'000 ? 0 : kGroupBytes > 3'400'000 / 396 ? 396 : 3'400'000 / kGroupBytes;

// Blocks on a multiprocessor if a thread has about `registers` registers, at most those of 2,048 threads.
RT_HD constexpr int blocks_for(int registers) {
  int by_registers = 65536 / (kThreads * registers), by_threads = 2048 / kThreads;
  int blocks = by_registers < by_threads ? by_registers : by_threads;
  return blocks < 1 ? 1 : blocks > 24 ? 24 : blocks;
}

// A group in the shared memory of a block. The packs of a warp are whole lines of memory, whatever line the group begins
// in: groups of odd n begin anywhere in a line, and if their packs began there too, a store of a warp would write parts
// of two sectors beside sixteen whole ones.
struct StagedGroup {
  static constexpr int kRow = spread_row();
  static constexpr int kPlane = spread_plane();
  static constexpr int kElement = kN * kPlane;
  static constexpr bool kPadded = kPlane != kPlaneSize;
  static constexpr bool kAligned = kGroup * kSize % kLineOfMemory == 0;  // whether groups are whole lines
  // of one number a point
  static constexpr int kBuffer =
      (kGroup * kElement + (kGroup * kSize % kPack == 0 ? 0 : kPack) + kPack - 1) / kPack * kPack;

  long long first;  // element
  int count;  // of elements
  int shift;  // place of the first number in its line

  RT_DEVICE explicit StagedGroup(long long elements) : first((long long)blockIdx.x * kGroup) {
    count = elements - first < kGroup ? (int)(elements - first) : kGroup;
    shift = kAligned ? 0 : (int)(first * kSize % kLineOfMemory);
  }
  // place of the first number in its pack, in memory and in shared memory
  RT_DEVICE int skew() const { return shift % kPack; }
  RT_DEVICE long long origin() const { return first * kSize; }

  // Calls each(at, whole) for the numbers at .. at + kPack - 1 of `words`, or for a single one at the ends.
  template <class Each> RT_DEVICE void for_packs(int words, Each each) const {
    constexpr int kMost = kGroup * kSize + (kAligned ? 0 : kLineOfMemory - 1);
#pragma unroll
    for (int trip = 0; trip < (kMost + kThreads * kPack - 1) / (kThreads * kPack); trip++) {
      int at = ((int)threadIdx.x + trip * kThreads) * kPack - shift;
      if constexpr (kSize % kPack == 0) {
        if (at >= 0 && at < words) each(at, true);
      } else if (at >= 0 && at + kPack <= words) {
        each(at, true);
      } else if (at > -kPack && at < words) {
        for (int i = at < 0 ? 0 : at; i < at + kPack && i < words; i++) each(i, false);
      }
    }
  }
  // Requests the group that begins kAhead groups further on, which a later block loads, for the L2 cache.
  static RT_DEVICE void fetch_ahead(const Real* u, long long elements) {
    if constexpr (kAhead == 0) return;
    long long later = ((long long)blockIdx.x + kAhead) * kGroup;
    if (later + kGroup > elements) return;
    const char* from = (const char*)(u + later * kSize);
    for (int at = threadIdx.x * 128; at < kGroup * kSize * (int)sizeof(Real); at += kThreads * 128)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(from + at));
  }
  // place in shared memory of number `at` of a group
  static RT_DEVICE int place(int at) {
    unsigned i = at;  // unsigned, so that divisions by powers of two are shifts
    if constexpr (kRow != kN) return i / kPlaneSize * kPlane + i % kPlaneSize / kN * kRow + i % kN;
    if constexpr (kPadded) return i / kPlaneSize * kPlane + i % kPlaneSize;
    return at;
  }
  // Starts the copy of the numbers of the group; complete after wait().
  RT_DEVICE void load(Real* to, const Real* from) const {
    for_packs(count * kSize, [&](int at, bool whole) {
      if (whole)
        __pipeline_memcpy_async(to + place(at), from + at, 16);
      else
        __pipeline_memcpy_async(to + place(at), from + at, sizeof(Real));
    });
    __pipeline_commit();
  }
  static RT_DEVICE void wait() {
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  RT_DEVICE void save(Real* to, const Real* from) const {
    for_packs(count * kSize, [&](int at, bool whole) {
      if (whole)
        store_whole(to + at, from + place(at));
      else
        to[at] = from[place(at)];
    });
  }
  static RT_DEVICE void store_whole(float* to, const float* from) { __stwb((float4*)to, *(const float4*)from); }
  static RT_DEVICE void store_whole(double* to, const double* from) { __stwb((double2*)to, *(const double2*)from); }

  // place of the first number of line t
  template <Axis axis> static RT_DEVICE int line(int t) {
    unsigned i = t;
    if (axis == Axis::x) return i / kPlaneSize * kElement + i % kPlaneSize / kN * kRow + i % kN;
    return i / kN * kPlane + i % kN * (axis == Axis::y ? 1 : kRow);
  }
  template <Axis axis> static constexpr int kStep = axis == Axis::x   ? kPlane
                                                    : axis == Axis::y ? kRow
                                                                      : 1;  // along a line
  template <Axis axis> static RT_DEVICE void read(Values& in, const Real* from, int t) {
    read_line<kStep<axis>>(in, from + line<axis>(t));
  }
  template <Axis axis> static RT_DEVICE void write(Real* to, const Values& out, int t) {
    write_line<kStep<axis>, false>(to + line<axis>(t), out);
  }
};

}  // namespace rt
