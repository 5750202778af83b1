// The fused stiffness operator for any n: a group of elements in shared memory, copied there in 16-byte packs.
#pragma once
#ifndef RT_OPERATOR_COPIES
// One for each product, or for each axis where six would exceed the constant cache of 2 KB.
#define RT_OPERATOR_COPIES (RT_N < 9 ? 6 : RT_N < 15 ? 3 : 1)
#endif
#include "../contraction/staged.cuh"
#include "diffusion.cuh"

namespace rt {

template <int kThreads, int kGroup>
struct StagedDiffusion {
  using Group = StagedGroup<kThreads, kGroup>;

  // shared: two buffers of the group, aligned to 16.
  static RT_DEVICE void run(void* shared, const Real* u, const Real* __restrict__ g, Real* v, long long elements) {
    Group group(elements);
    if (group.count <= 0) return;
    u += group.origin();
    v += group.origin();
    g += group.origin(6);
    Real* share = (Real*)shared + group.shift;
    Real* share_y = share + Group::kBuffer;
    group.load(share, u);
    group.wait();
    Values x[Group::kTurnsOfGroup];
    group.for_lines([&](int t, int turn) {
      Values in;
      group.template read<Axis::x>(in, share, t);
      apply(x[turn], in);
    });
    group.template contract_lines<Axis::y>(share_y, share);
    __syncthreads();
    group.template contract_lines<Axis::z>(share, share);
    __syncthreads();
    group.for_lines([&](int t, int turn) {
      const Real* of_line = g + t / kPlaneSize * 6 * kSize + t % kPlaneSize;
      int at = Group::template line<Axis::x>(t);
#pragma unroll
      for (int l = 0; l < kN; l++, at += Group::kPlane)
        weigh(x[turn][l], share_y[at], share[at], of_line + l * kPlaneSize);
    });
    __syncthreads();
    group.template contract_lines<Axis::y, true, 4>(share_y, share_y);
    group.template contract_lines<Axis::z, true, 5>(share, share);
    __syncthreads();
    group.for_lines([&](int t, int turn) {
      Values out;
      apply<true, 3>(out, x[turn]);
      int at = Group::template line<Axis::x>(t);
#pragma unroll
      for (int l = 0; l < kN; l++)
        v[t / kPlaneSize * kSize + t % kPlaneSize + l * kPlaneSize] =
            out[l] + share[at + l * Group::kPlane] + share_y[at + l * Group::kPlane];
    });
  }
};

}  // namespace rt
