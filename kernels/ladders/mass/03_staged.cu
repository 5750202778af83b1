// title: contiguous pieces
// idea: elements and weights come as contiguous pieces in 16-byte packs, the weights while the first two axes are computed; a
//       thread replaces its lines in shared memory axis by axis, and v leaves as such a piece, too: whole lines of memory
//       for any n
// block: 416
// threads: 32 * ceil(max(1, 1024 // (bytes * n * n)) * n * n / 32)
// grid: ceil(elements / max(1, 1024 // (bytes * n * n)))
// shared: 2 * bytes * (max(1, 1024 // (bytes * n * n)) * n * (n * (n + 16 // bytes * (1 - min(1, n * bytes - n * bytes // 32 * 32))) + (1 - n + n // 2 * 2) * ((8 - bytes) * (n // 4) + bytes // 2 - 2)) + 32 // bytes)
// constant: b
// source: own; the operator is BK1 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#define RT_OPERATOR c_b
#define RT_OPERATOR_COPIES 6  // one for each product
#include "../contraction/staged_lines.cuh"

using rt::Axis;
using rt::Real;
using Group = rt::StagedGroup;

extern "C" __global__ void __launch_bounds__(rt::kThreads)
    mass(const Real* u, const Real* w, const Real*, Real* v, long long elements) {
  extern __shared__ uint4 shared[];
  Group group(elements);
  if (group.count <= 0) return;
  Real* share = (Real*)shared + group.skew();
  Real* weights = share + Group::kBuffer;
  group.load(share, u + group.origin());
  group.load(weights, w + group.origin());
  __pipeline_wait_prior(1);  // for u alone
  __syncthreads();
  rt::contract_lines<Axis::x, 0>(group, share, share);
  __syncthreads();
  rt::contract_lines<Axis::y, 1>(group, share, share);
  group.wait();  // for the weights, and for all threads
  const int t = threadIdx.x;
  if (t < group.count * rt::kPlaneSize) {
    rt::Values values, out;
    Group::read<Axis::z>(values, share, t);
    rt::apply<2>(out, values);
    Group::read<Axis::z>(values, weights, t);
#pragma unroll
    for (int l = 0; l < rt::kN; l++) out[l] *= values[l];
    rt::apply<5, true>(values, out);  // back along the same line
    Group::write<Axis::z>(share, values, t);
  }
  __syncthreads();
  rt::contract_lines<Axis::y, 4, true>(group, share, share);
  __syncthreads();
  rt::contract_lines<Axis::x, 3, true>(group, share, share);
  __syncthreads();
  group.save(v + group.origin(), share);
}
