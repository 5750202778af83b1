// The gradient of groups of elements in whole lines of 128 bytes: u comes and all three derivatives leave by packs of
// which a warp has four lines of memory. Groups of odd n begin anywhere in a line; if their packs began there too,
// a store of a warp would write parts of two sectors beside sixteen whole ones.
#pragma once
#include "staged.cuh"
#include "together.cuh"

namespace rt {

// Axis after axis, with two buffers: derivatives along x and y leave through the second one, those along z take the
// place of u. kAhead: as for TogetherGradient.
template <int kThreads, int kGroup, int kAhead>
struct WholeGradient : StagedGroup<kThreads, kGroup, true> {
  using Group = StagedGroup<kThreads, kGroup, true>;

  // u [elements][n][n][n]; shared: two buffers, aligned to 16.
  static RT_DEVICE void run(void* shared, const Real* u, Real* gx, Real* gy, Real* gz, long long elements) {
    Group group(elements);
    if (group.count <= 0) return;
    Real* share = (Real*)shared + group.skew();
    Real* out = share + Group::kBuffer;
    group.load(share, u + group.origin());
    group.wait();
    if constexpr (kAhead > 0) Group::template fetch_ahead<kAhead>(u, elements);
    group.template contract_lines<Axis::x>(out, share);
    __syncthreads();
    group.save(gx + group.origin(), out);
    __syncthreads();
    group.template contract_lines<Axis::y>(out, share);
    __syncthreads();
    group.save(gy + group.origin(), out);
    group.template contract_lines<Axis::z>(share, share);  // in place: a line has one thread
    __syncthreads();
    group.save(gz + group.origin(), share);
  }
};

}  // namespace rt
