// The fused stiffness operator for any n: a group of elements in shared memory, copied there in 16-byte packs,
// and, where it fits, the factors of the group too, whose copies are on their way while the gradient is computed.
#pragma once
#ifndef RT_OPERATOR_COPIES
// One for each product, or for each axis where six would exceed the constant cache of 2 KB.
#define RT_OPERATOR_COPIES (RT_N < 9 ? 6 : RT_N < 15 ? 3 : 1)
#endif
#include "../contraction/staged.cuh"
#include "diffusion.cuh"

namespace rt {

// kStageG: whether the factors are copied to shared memory. kStageV: whether v leaves through shared memory.
template <int kThreads, int kGroup, bool kStageG, bool kStageV>
struct StagedDiffusion {
  using Group = StagedGroup<kThreads, kGroup>;
  static constexpr int kFactors = kStageG ? (kGroup * 6 * kSize + 2 * kPack) / kPack * kPack : 0;
  static constexpr int kBytes = (2 * Group::kBuffer + kFactors) * (int)sizeof(Real);  // of shared memory

  static RT_DEVICE void load_factors(Real* to, const Real* from, int shift, int words) {
    for (int at = (int)threadIdx.x * kPack - shift; at < words; at += kThreads * kPack) {
      if (at >= 0 && at + kPack <= words) {
        __pipeline_memcpy_async(to + at, from + at, 16);
      } else {
        for (int i = at < 0 ? 0 : at; i < at + kPack && i < words; i++)
          __pipeline_memcpy_async(to + i, from + i, sizeof(Real));
      }
    }
    __pipeline_commit();
  }
  // shared: kBytes, aligned to 16.
  static RT_DEVICE void run(void* shared, const Real* u, const Real* __restrict__ g, Real* v, long long elements) {
    Group group(elements);
    if (group.count <= 0) return;
    u += group.origin();
    v += group.origin();
    g += group.origin(6);
    Real* share = (Real*)shared + group.shift;
    Real* share_y = share + Group::kBuffer;
    int shift = (int)(group.origin(6) % kPack);
    Real* factors = (Real*)shared + 2 * Group::kBuffer + shift;
    group.load(share, u);
    if constexpr (kStageG) {
      load_factors(factors, g, shift, group.count * 6 * kSize);
      group.template wait<1>();
    } else {
      group.wait();
    }
    Values x[Group::kTurnsOfGroup];
    group.for_lines([&](int t, int turn) {
      Values in;
      group.template read<Axis::x>(in, share, t);
      apply(x[turn], in);
    });
    group.template contract_lines<Axis::y>(share_y, share);
    __syncthreads();
    group.template contract_lines<Axis::z>(share, share);
    group.wait();  // for the factors, and for all threads
    group.for_lines([&](int t, int turn) {
      const Real* of_line = (kStageG ? factors : g) + t / kPlaneSize * 6 * kSize + t % kPlaneSize;
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
      for (int l = 0; l < kN; l++) {
        Real sum = out[l] + share[at + l * Group::kPlane] + share_y[at + l * Group::kPlane];
        if constexpr (kStageV)
          share[at + l * Group::kPlane] = sum;
        else
          v[t / kPlaneSize * kSize + t % kPlaneSize + l * kPlaneSize] = sum;
      }
    });
    if constexpr (kStageV) {
      __syncthreads();
      group.save(v, share);
    }
  }
};

}  // namespace rt
