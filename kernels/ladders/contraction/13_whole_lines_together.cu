// title: whole lines, axes together
// idea: the same with the three axes at once: a value of the operator serves three multiply-adds, and all three
//       derivatives leave together, where a thread has registers for three lines
// block: 416
// threads: 32 * ceil(max(1, 1024 // (bytes * n * n)) * n * n / 32)
// grid: ceil(elements / max(1, 1024 // (bytes * n * n)))
// shared: 3 * bytes * (max(1, 1024 // (bytes * n * n)) * n * (n * (n + 16 // bytes * (1 - min(1, n * bytes - n * bytes // 32 * 32))) + (1 - n + n // 2 * 2) * ((8 - bytes) * (n // 4) + bytes // 2 - 2)) + 32 // bytes)
// constant: d
// source: own; lines as in Fischer et al. 2020, Scalability of high-performance PDE solvers
#include "staged.cuh"

using rt::Axis;
using rt::kN;
using rt::Real;
using rt::Values;
using Group = rt::StagedGroup;

constexpr int kRegisters = 24 + 3 * kN * (int)sizeof(Real) / 4;

// Row r of the operator times a line along each axis. Constant operands of multiply-adds come through a cache of 2 KB
// next to the arithmetic units. A copy of the operator for each product does not fit there from n = 14 on (float32), and
// with a single copy the compiler would keep what three products have in common in registers, which do not suffice.
// Here there is a single copy and nothing in common.
__device__ __forceinline__ void apply_row(int r, const Values& x, const Values& y, const Values& z, Real& along_x,
                                          Real& along_y, Real& along_z) {
  along_x = along_y = along_z = 0;
#pragma unroll
  for (int l = 0; l < kN; l++) {
    const Real d = c_d[r * kN + l];
    along_x = rt::multiply_add(d, x[l], along_x);
    along_y = rt::multiply_add(d, y[l], along_y);
    along_z = rt::multiply_add(d, z[l], along_z);
  }
}

// With three buffers.
extern "C" __global__ void __launch_bounds__(rt::kThreads, rt::blocks_for(kRegisters))
    contraction(const Real* u, const Real*, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Group group(elements);
  if (group.count <= 0) return;
  Real* share = (Real*)shared + group.skew();
  Real* share_x = share + Group::kBuffer;
  Real* share_y = share_x + Group::kBuffer;
  group.load(share, u + group.origin());
  group.wait();
  Group::fetch_ahead(u, elements);
  const int t = threadIdx.x;
  const bool inside = t < group.count * rt::kPlaneSize;
  Values x, y, z;
  if (inside) {
    Group::read<Axis::x>(x, share, t);
    Group::read<Axis::y>(y, share, t);
    Group::read<Axis::z>(z, share, t);
  }
  __syncthreads();  // all have read u: derivatives along z take its place
  if (inside) {
    Real* to_x = share_x + Group::line<Axis::x>(t);
    Real* to_y = share_y + Group::line<Axis::y>(t);
    Real* to_z = share + Group::line<Axis::z>(t);
    rt::Pack pack;
#pragma unroll
    for (int r = 0; r < kN; r++) {
      Real along_x, along_y, along_z;
      apply_row(r, x, y, z, along_x, along_y, along_z);
      to_x[r * Group::kPlane] = along_x;
      to_y[r * Group::kRow] = along_y;
      pack.v[r % rt::kWidth] = along_z;
      if (r % rt::kWidth == rt::kWidth - 1) *(rt::Pack*)(to_z + r - r % rt::kWidth) = pack;
    }
  }
  __syncthreads();
  group.save(gx + group.origin(), share_x);
  group.save(gy + group.origin(), share_y);
  group.save(gz + group.origin(), share);
}
