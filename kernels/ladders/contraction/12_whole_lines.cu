// title: whole lines of memory
// idea: packs begin at lines of 128 bytes of memory, wherever the group begins, so that a warp writes four lines and
//       no part of a fifth; every derivative leaves through shared memory, whose rows and planes begin in different
//       banks; the group that a later block needs is requested for the L2 cache
// block: 416
// threads: 32 * ceil(max(1, 1024 // (bytes * n * n)) * n * n / 32)
// grid: ceil(elements / max(1, 1024 // (bytes * n * n)))
// shared: 2 * bytes * (max(1, 1024 // (bytes * n * n)) * n * (n * (n + 16 // bytes * (1 - min(1, n * bytes - n * bytes // 32 * 32))) + (1 - n + n // 2 * 2) * ((8 - bytes) * (n // 4) + bytes // 2 - 2)) + 32 // bytes)
// constant: d
// best: n 15 16 20 float32, n 2 3 4 5 6 7 8 14 15 16 20 float64
// source: own; lines as in Fischer et al. 2020, Scalability of high-performance PDE solvers

// A copy of the operator for each axis, as long as they fit the constant cache of 2 KB (in float32).
#define RT_OPERATOR_COPIES (RT_N < 13 ? 3 : 1)
#include "staged.cuh"

using rt::Axis;
using rt::Real;
using Group = rt::StagedGroup;

// Derivatives along one axis, from one buffer to another or in place: a line has one thread.
template <Axis axis> __device__ __forceinline__ void contract_lines(const Group& group, Real* to, const Real* from) {
  const int t = threadIdx.x;
  if (t >= group.count * rt::kPlaneSize) return;
  rt::Values in, out;
  Group::read<axis>(in, from, t);
  rt::apply<(int)axis>(out, in);
  Group::write<axis>(to, out, t);
}

// Axis after axis, with two buffers: derivatives along x and y leave through the second one, those along z take the
// place of u.
extern "C" __global__ void __launch_bounds__(rt::kThreads, rt::blocks_for(32 + 4 * (int)sizeof(Real)))
    contraction(const Real* u, const Real*, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Group group(elements);
  if (group.count <= 0) return;
  Real* share = (Real*)shared + group.skew();
  Real* out = share + Group::kBuffer;
  group.load(share, u + group.origin());
  group.wait();
  Group::fetch_ahead(u, elements);
  contract_lines<Axis::x>(group, out, share);
  __syncthreads();
  group.save(gx + group.origin(), out);
  __syncthreads();
  contract_lines<Axis::y>(group, out, share);
  __syncthreads();
  group.save(gy + group.origin(), out);
  contract_lines<Axis::z>(group, share, share);
  __syncthreads();
  group.save(gz + group.origin(), share);
}
