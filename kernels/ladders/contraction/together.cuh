// The gradient of groups of elements (staged.cuh) with the three axes at once: a thread has its lines along x, y and z
// in registers, and each value of the operator is read once for all three.
//
// Constant operands of multiply-adds come through a cache of 2 KB next to the arithmetic units. A copy of the operator
// for each product does not fit there from n = 14 on (float32), and with a single copy the compiler would keep what
// three products have in common in registers, which do not suffice. Here there is a single copy and nothing in common.
#pragma once
#ifndef RT_OPERATOR_COPIES
#define RT_OPERATOR_COPIES 1
#endif
#include "staged.cuh"

namespace rt {

// Row r of the operator times a line along each axis.
RT_DEVICE void apply_row(int r, const Values& x, const Values& y, const Values& z, Real& along_x, Real& along_y,
                         Real& along_z) {
  along_x = along_y = along_z = 0;
#pragma unroll
  for (int l = 0; l < kN; l++) {
    const Real d = c_d[r * kN + l];
    along_x = multiply_add(d, x[l], along_x);
    along_y = multiply_add(d, y[l], along_y);
    along_z = multiply_add(d, z[l], along_z);
  }
}

// kAhead: how many groups further on the group begins that is requested for the L2 cache; 0: none.
template <int kThreads, int kGroup, int kAhead>
struct TogetherGradient : StagedGroup<kThreads, kGroup> {
  using Group = StagedGroup<kThreads, kGroup>;
  static_assert(Group::kTurnsOfGroup == 1, "a thread has one line along each axis");

  // u [elements][n][n][n]; shared: three buffers, aligned to 16.
  static RT_DEVICE void run(void* shared, const Real* u, Real* gx, Real* gy, Real* gz, long long elements) {
    Group group(elements);
    if (group.count <= 0) return;
    const Real* ahead = u;
    u += group.origin();
    gx += group.origin();
    gy += group.origin();
    gz += group.origin();
    Real* share = (Real*)shared + group.skew();
    Real* share_x = share + Group::kBuffer;
    Real* share_y = share_x + Group::kBuffer;
    group.load(share, u);
    group.wait();
    if constexpr (kAhead > 0) Group::template fetch_ahead<kAhead>(ahead, elements);
    const int t = threadIdx.x;
    const bool inside = t < group.count * kPlaneSize;
    Values x, y, z;
    if (inside) {
      group.template read<Axis::x>(x, share, t);
      group.template read<Axis::y>(y, share, t);
      group.template read<Axis::z>(z, share, t);
    }
    __syncthreads();  // all have read u: derivatives along z take its place
    if (inside) {
      Real* to_x = share_x + Group::template line<Axis::x>(t);
      Real* to_y = share_y + Group::template line<Axis::y>(t);
      Real* to_z = share + Group::template line<Axis::z>(t);
      Pack pack;
#pragma unroll
      for (int r = 0; r < kN; r++) {
        Real along_x, along_y, along_z;
        apply_row(r, x, y, z, along_x, along_y, along_z);
        to_x[r * Group::kPlane] = along_x;
        to_y[r * Group::kRow] = along_y;
        pack.v[r % kWidth] = along_z;
        if (r % kWidth == kWidth - 1) *(Pack*)(to_z + r - r % kWidth) = pack;
      }
    }
    __syncthreads();
    group.save(gx, share_x);
    group.save(gy, share_y);
    group.save(gz, share);
  }
};

}  // namespace rt
