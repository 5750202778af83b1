// Velocity times gradient for any n: a group of elements in shared memory, copied there in 16-byte packs.
#pragma once
#include "../contraction/staged.cuh"
#include "advection.cuh"

namespace rt {

template <int kThreads, int kGroup>
struct StagedAdvection {
  using Group = StagedGroup<kThreads, kGroup>;

  // shared: two buffers of the group, aligned to 16.
  static RT_DEVICE void run(void* shared, const Real* u, const Real* __restrict__ c, Real* v, long long elements) {
    Group group(elements);
    if (group.count <= 0) return;
    v += group.origin();
    c += group.origin(3);
    Real* share = (Real*)shared + group.shift;
    Real* share_y = share + Group::kBuffer;
    group.load(share, u + group.origin());
    group.wait();
    Values x[Group::kTurnsOfGroup];
    group.for_lines([&](int t, int turn) {
      Values in;
      group.template read<Axis::x>(in, share, t);
      apply<false, 0>(x[turn], in);
    });
    group.template contract_lines<Axis::y>(share_y, share);
    __syncthreads();
    group.template contract_lines<Axis::z>(share, share);
    __syncthreads();
    group.for_lines([&](int t, int turn) {
      const Real* of_line = c + t / kPlaneSize * 3 * kSize + t % kPlaneSize;
      Real* to = v + t / kPlaneSize * kSize + t % kPlaneSize;
      int at = Group::template line<Axis::x>(t);
#pragma unroll
      for (int l = 0; l < kN; l++, at += Group::kPlane) {
        to[l * kPlaneSize] = along_velocity(x[turn][l], share_y[at], share[at], of_line + l * kPlaneSize);
      }
    });
  }
};

}  // namespace rt
