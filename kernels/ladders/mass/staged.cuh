// The fused mass operator for any n: a group of elements and its weights in shared memory, copied there in 16-byte
// packs; every product is done in place, by the thread of a line.
#pragma once
#define RT_OPERATOR c_b
#ifndef RT_OPERATOR_COPIES
#define RT_OPERATOR_COPIES 6  // one for each product
#endif
#include "../contraction/staged.cuh"

namespace rt {

// kStageV: whether v leaves through shared memory.
template <int kThreads, int kGroup, bool kStageV>
struct StagedMass {
  using Group = StagedGroup<kThreads, kGroup>;
  static constexpr int kBytes = 2 * Group::kBuffer * (int)sizeof(Real);  // of shared memory

  // shared: kBytes, aligned to 16.
  static RT_DEVICE void run(void* shared, const Real* u, const Real* w, Real* v, long long elements) {
    Group group(elements);
    if (group.count <= 0) return;
    v += group.origin();
    Real* share = (Real*)shared + group.shift;
    Real* weights = share + Group::kBuffer;
    group.load(share, u + group.origin());
    group.load(weights, w + group.origin());
    group.template wait<1>();
    group.template contract_lines<Axis::x, false, 0>(share, share);
    __syncthreads();
    group.template contract_lines<Axis::y, false, 1>(share, share);
    group.wait();  // for the weights, and for all threads
    group.for_lines([&](int t, int) {
      Values values, out, of_line;
      group.template read<Axis::z>(values, share, t);
      apply<false, 2>(out, values);
      group.template read<Axis::z>(of_line, weights, t);
#pragma unroll
      for (int l = 0; l < kN; l++) out[l] *= of_line[l];
      apply<true, 5>(values, out);  // back along the same line
      group.template write<Axis::z>(share, values, t);
    });
    __syncthreads();
    group.template contract_lines<Axis::y, true, 4>(share, share);
    __syncthreads();
    if constexpr (kStageV) {
      group.template contract_lines<Axis::x, true, 3>(share, share);
      __syncthreads();
      group.save(v, share);
    } else {
      group.for_lines([&](int t, int) {
        Values in, out;
        group.template read<Axis::x>(in, share, t);
        apply<true, 3>(out, in);
        Real* to = v + t / kPlaneSize * kSize + t % kPlaneSize;
#pragma unroll
        for (int l = 0; l < kN; l++) to[l * kPlaneSize] = out[l];
      });
    }
  }
};

}  // namespace rt
