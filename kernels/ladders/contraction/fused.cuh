// Lines of elements between shared memory and registers, for operators that keep an element there from the first product to
// the last (lines.cuh: a thread per line).
#pragma once
#include "lines.cuh"

namespace rt {

constexpr int kBuffer = kElements * kShare;  // one number a point of the elements of a block
template <Axis axis> inline constexpr int kSharedStep = axis == Axis::x ? kPlane : axis == Axis::y ? kRow : 1;

template <Axis axis> RT_DEVICE void read_shared(Values& values, const Real* share, const Line& line) {
  read_line<kSharedStep<axis>, false>(values, share + line.shared<axis>());
}
template <Axis axis> RT_DEVICE void write_shared(Real* share, const Values& values, const Line& line) {
#pragma unroll
  for (int l = 0; l < kN; l++) share[line.shared<axis>() + l * kSharedStep<axis>] = values[l];
}

// to = d from along an axis, both in shared memory, or in place: a line has one thread.
template <Axis axis, int kCopy = 0, bool kTransposed = false>
RT_DEVICE void contract_shared(Real* to, const Real* from, long long elements) {
  for_lines(elements, [&](const Line& line) {
    Values in, out;
    read_shared<axis>(in, from, line);
    apply<kCopy, kTransposed>(out, in);
    write_shared<axis>(to, out, line);
  });
}

// The derivatives of u along x, in registers of the thread of a line, along y in share, along z in share + kBuffer. Ends
// with a barrier.
RT_DEVICE void keep_gradient(Real* share, Values (&x)[kTurns], const Real* u, long long elements) {
  for_lines(elements, [&](const Line& line) {
    Values in;
    read_line<kPlaneSize>(in, u + line.global<Axis::x>());
    write_shared<Axis::x>(share, in, line);
    apply<0>(x[line.turn], in);
  });
  __syncthreads();
  contract_shared<Axis::z, 2>(share + kBuffer, share, elements);
  __syncthreads();  // all have read u: derivatives along y take its place
  contract_shared<Axis::y, 1>(share, share, elements);
  __syncthreads();
}

}  // namespace rt
