// The fused stiffness operator with the three axes at once (contraction/together.cuh), for the gradient and for the
// transposed one: two copies of the operator.
#pragma once
#define RT_OPERATOR_COPIES 2
#include "../contraction/together.cuh"
#include "diffusion.cuh"

namespace rt {

template <int kThreads, int kGroup>
struct TogetherDiffusion {
  using Group = StagedGroup<kThreads, kGroup>;
  static_assert(Group::kTurnsOfGroup == 1, "a thread has one line along each axis");

  // The derivatives, or their transposes, of lines in registers: along x in registers, along y and z in shared memory.
  template <bool kTransposed, int kCopy>
  static RT_DEVICE void differentiate(Values& along_x, Real* share_y, Real* share_z, const Values& x, const Values& y,
                                      const Values& z, int t) {
    Real* to_y = share_y + Group::template line<Axis::y>(t);
    Real* to_z = share_z + Group::template line<Axis::z>(t);
    Pack pack;
#pragma unroll
    for (int r = 0; r < kN; r++) {
      Real along_y;
      apply_row<kTransposed, kCopy>(r, x, y, z, along_x[r], along_y, pack.v[r % kWidth]);
      to_y[r * kN] = along_y;
      if (r % kWidth == kWidth - 1) *(Pack*)(to_z + r - r % kWidth) = pack;
    }
  }

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
    const int t = threadIdx.x;
    const bool inside = t < group.count * kPlaneSize;
    Values x, y, z, flux;
    if (inside) {
      group.template read<Axis::x>(x, share, t);
      group.template read<Axis::y>(y, share, t);
      group.template read<Axis::z>(z, share, t);
    }
    __syncthreads();
    if (inside) differentiate<false, 0>(flux, share_y, share, x, y, z, t);
    __syncthreads();
    const int at = Group::template line<Axis::x>(t), place = t / kPlaneSize * kSize + t % kPlaneSize;
    if (inside) {
      const Real* of_line = g + t / kPlaneSize * 6 * kSize + t % kPlaneSize;
#pragma unroll
      for (int l = 0; l < kN; l++)
        weigh(flux[l], share_y[at + l * Group::kPlane], share[at + l * Group::kPlane], of_line + l * kPlaneSize);
    }
    __syncthreads();
    if (inside) {
      group.template read<Axis::y>(y, share_y, t);
      group.template read<Axis::z>(z, share, t);
      differentiate<true, 1>(x, share_y, share, flux, y, z, t);
    }
    __syncthreads();
    if (inside) {
#pragma unroll
      for (int l = 0; l < kN; l++)
        v[place + l * kPlaneSize] = x[l] + share[at + l * Group::kPlane] + share_y[at + l * Group::kPlane];
    }
  }
};

}  // namespace rt
