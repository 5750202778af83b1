// The gradient of groups of elements in whole lines of 128 bytes: u comes and all three derivatives leave by packs of
// which a warp has four lines of memory. Groups of odd n begin anywhere in a line; if their packs began there too,
// a store of a warp would write parts of two sectors beside sixteen whole ones.
#pragma once
#include "staged.cuh"
#include "together.cuh"

namespace rt {

// Blocks of whole lines: 1 KB of the numbers of a line of elements, so that float64 has half the threads.
struct WholeShape {
  static constexpr int kGroup = group_for(1024 / (int)sizeof(Real));
  static constexpr int kThreads = (kGroup * kPlaneSize + 31) / 32 * 32;
  // How many groups ahead of its own a block requests for the L2 cache: 3.4 MB, but beyond the groups that are
  // computed at the same time (three blocks on each of 132 multiprocessors). Larger groups are far enough apart.
  static constexpr int kBytes = kGroup * kSize * (int)sizeof(Real);
  static constexpr int kAhead = kBytes > 18'000 ? 0 : kBytes > 3'400'000 / 396 ? 396 : 3'400'000 / kBytes;
};

// Axis after axis, with two buffers: derivatives along x and y leave through the second one, those along z take the
// place of u. kAhead: as for TogetherGradient.
template <int kThreads, int kGroup, int kAhead>
struct WholeGradient : StagedGroup<kThreads, kGroup> {
  using Group = StagedGroup<kThreads, kGroup>;

  // u [elements][n][n][n]; shared: two buffers, aligned to 16.
  static RT_DEVICE void run(void* shared, const Real* u, Real* gx, Real* gy, Real* gz, long long elements) {
    Group group(elements);
    if (group.count <= 0) return;
    const Real* all = u;
    u += group.origin();
    gx += group.origin();
    gy += group.origin();
    gz += group.origin();
    Real* share = (Real*)shared + group.skew();
    Real* out = share + Group::kBuffer;
    group.load(share, u);
    group.wait();
    if constexpr (kAhead > 0) Group::template fetch_ahead<kAhead>(all, elements);
    group.template contract_lines<Axis::x>(out, share);
    __syncthreads();
    group.save(gx, out);
    __syncthreads();
    group.template contract_lines<Axis::y>(out, share);
    __syncthreads();
    group.save(gy, out);
    group.template contract_lines<Axis::z>(share, share);  // in place: a line has one thread
    __syncthreads();
    group.save(gz, share);
  }
};

}  // namespace rt
