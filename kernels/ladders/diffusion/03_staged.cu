// title: contiguous pieces
// idea: a block copies a group of elements as one contiguous piece in 16-byte packs, with as many threads as lines, and v
//       leaves as such a piece, too: whole lines of memory for any n. The factors, six eighths of all bytes, are read as
//       before, so that the gain is in the sizes whose lines are no whole sectors of memory
// block: 416
// threads: 32 * ceil(max(1, 1024 // (bytes * n * n)) * n * n / 32)
// grid: ceil(elements / max(1, 1024 // (bytes * n * n)))
// shared: 2 * bytes * (max(1, 1024 // (bytes * n * n)) * n * (n * (n + 16 // bytes * (1 - min(1, n * bytes - n * bytes // 32 * 32))) + (1 - n + n // 2 * 2) * ((8 - bytes) * (n // 4) + bytes // 2 - 2)) + 32 // bytes)
// constant: d
// source: own; the operator is BK5 of Fischer et al. 2020, Scalability of high-performance PDE solvers
// One for each product, or for each axis where six would exceed the constant cache of 2 KB.
#define RT_OPERATOR_COPIES (RT_N < 9 ? 6 : RT_N < 15 ? 3 : 1)
#include "../contraction/staged_lines.cuh"
#include "diffusion.cuh"

using rt::Axis;
using rt::Real;
using Group = rt::StagedGroup;

extern "C" __global__ void __launch_bounds__(rt::kThreads)
    diffusion(const Real* u, const Real* __restrict__ g, const Real*, Real* v, long long elements) {
  extern __shared__ uint4 shared[];
  Group group(elements);
  if (group.count <= 0) return;
  Real* share = (Real*)shared + group.skew();
  Real* share_y = share + Group::kBuffer;
  group.load(share, u + group.origin());
  group.wait();
  const int t = threadIdx.x;
  const bool inside = t < group.count * rt::kPlaneSize;
  const int first = Group::line<Axis::x>(t);
  rt::Values x, other;
  if (inside) {
    Group::read<Axis::x>(other, share, t);
    rt::apply<0>(x, other);
  }
  rt::contract_lines<Axis::y, 1>(group, share_y, share);
  __syncthreads();
  rt::contract_lines<Axis::z, 2>(group, share, share);
  __syncthreads();
  if (inside) {
    const Real* factors = g + 6 * (group.origin() + t / rt::kPlaneSize * rt::kSize) + t % rt::kPlaneSize;
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const int at = first + l * Group::kPlane;
      rt::weigh(x[l], share_y[at], share[at], factors + l * rt::kPlaneSize);
    }
  }
  __syncthreads();
  rt::contract_lines<Axis::y, 4, true>(group, share_y, share_y);
  rt::contract_lines<Axis::z, 5, true>(group, share, share);
  __syncthreads();
  if (inside) {
    rt::apply<3, true>(other, x);
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const int at = first + l * Group::kPlane;
      share[at] += other[l] + share_y[at];
    }
  }
  __syncthreads();
  group.save(v + group.origin(), share);
}
