// Products along lines of a group of elements in shared memory (staged.cuh), for fused operators.
#pragma once
#include "staged.cuh"

namespace rt {

// to = d from along an axis, or in place: a line has one thread.
template <Axis axis, int kCopy = 0, bool kTransposed = false>
RT_DEVICE void contract_lines(const StagedGroup& group, Real* to, const Real* from) {
  const int t = threadIdx.x;
  if (t >= group.count * kPlaneSize) return;
  Values in, out;
  StagedGroup::read<axis>(in, from, t);
  apply<kCopy, kTransposed>(out, in);
  StagedGroup::write<axis>(to, out, t);
}

}  // namespace rt
