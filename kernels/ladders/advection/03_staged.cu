// title: contiguous pieces
// idea: a block copies a group of elements as one contiguous piece in 16-byte packs, with as many threads as lines, and v
//       leaves as such a piece, too: whole lines of memory for any n. The velocities, three fifths of all bytes, are read as
//       before, so that there is little to gain where lines are whole sectors of memory already (n = 8)
// block: 416
// threads: 32 * ceil(max(1, 1024 // (bytes * n * n)) * n * n / 32)
// grid: ceil(elements / max(1, 1024 // (bytes * n * n)))
// shared: 2 * bytes * (max(1, 1024 // (bytes * n * n)) * n * (n * (n + 16 // bytes * (1 - min(1, n * bytes - n * bytes // 32 * 32))) + (1 - n + n // 2 * 2) * ((8 - bytes) * (n // 4) + bytes // 2 - 2)) + 32 // bytes)
// constant: d
// source: own
#define RT_OPERATOR_COPIES 3  // one for each axis
#include "../contraction/staged_lines.cuh"
#include "advection.cuh"

using rt::Axis;
using rt::Real;
using Group = rt::StagedGroup;

extern "C" __global__ void __launch_bounds__(rt::kThreads)
    advection(const Real* u, const Real* __restrict__ c, const Real*, Real* v, long long elements) {
  extern __shared__ uint4 shared[];
  Group group(elements);
  if (group.count <= 0) return;
  Real* share = (Real*)shared + group.skew();
  Real* share_y = share + Group::kBuffer;
  group.load(share, u + group.origin());
  group.wait();
  const int t = threadIdx.x;
  const bool inside = t < group.count * rt::kPlaneSize;
  rt::Values x, in;
  if (inside) {
    Group::read<Axis::x>(in, share, t);
    rt::apply<0>(x, in);
  }
  rt::contract_lines<Axis::y, 1>(group, share_y, share);
  __syncthreads();
  rt::contract_lines<Axis::z, 2>(group, share, share);
  __syncthreads();
  if (inside) {
    const Real* velocity = c + 3 * (group.origin() + t / rt::kPlaneSize * rt::kSize) + t % rt::kPlaneSize;
    const int first = Group::line<Axis::x>(t);
#pragma unroll
    for (int l = 0; l < rt::kN; l++) {
      const int at = first + l * Group::kPlane;
      share[at] = rt::along_velocity(x[l], share_y[at], share[at], velocity + l * rt::kPlaneSize);
    }
  }
  __syncthreads();
  group.save(v + group.origin(), share);
}
