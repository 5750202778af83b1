// Schedules with one thread per line: along x it is line (j, k), along y (i, k), along z (i, j). The thread
// has the n values of its line in registers. The operator is in constant memory with compile-time indices,
// so that it is an operand of the multiply-add and needs no load. Between two axes the values of an
// element are exchanged through shared memory.
#pragma once
#include "contraction.cuh"

// Copies of the operator. The compiler keeps what several products of one thread read from one address in registers,
// which do not suffice for n > 8; with a copy for each product it is an operand of the multiply-adds.
#ifndef RT_OPERATOR_COPIES
#define RT_OPERATOR_COPIES 1
#endif
__constant__ rt::Real c_d[RT_OPERATOR_COPIES * rt::kPlaneSize];  // [copies][n][n], filled by the host

namespace rt {

constexpr int kLineThreads = 256;
constexpr int kElements = kLineThreads < 2 * kPlaneSize ? 1 : kLineThreads / kPlaneSize;  // per block
constexpr int kTurns = (kPlaneSize + kLineThreads - 1) / kLineThreads;  // lines per thread and axis
// Layout of an element in shared memory: lines of odd length, and planes 8 banks apart for n = 8, so that
// threads along any axis read different banks.
constexpr int kRow = kN | 1;
constexpr int kPlane = kN * kRow;
constexpr int kShare = kN * kPlane;

using Values = Real[kN];

enum class Axis { x, y, z };

// The line of a thread in one iteration: (a, b) is (j, k), (i, k) or (i, j).
struct Line {
  int element, a, b;
  bool exists;

  RT_DEVICE Line(int turn, long long elements) {
    int t = threadIdx.x + turn * kLineThreads;
    element = kTurns > 1 ? 0 : t / kPlaneSize;
    int line = t - element * kPlaneSize;
    a = line / kN;
    b = line % kN;
    exists = line < kPlaneSize && element < kElements && (long long)blockIdx.x * kElements + element < elements;
  }
  RT_DEVICE long long origin() const { return ((long long)blockIdx.x * kElements + element) * kSize; }
  template <Axis axis> RT_DEVICE int global(int l) const {
    if (axis == Axis::x) return (l * kN + a) * kN + b;
    if (axis == Axis::y) return (a * kN + l) * kN + b;
    return (a * kN + b) * kN + l;
  }
  template <Axis axis> RT_DEVICE int shared(int l) const {
    int within = axis == Axis::x   ? l * kPlane + a * kRow + b
                 : axis == Axis::y ? a * kPlane + l * kRow + b
                                   : a * kPlane + b * kRow + l;
    return element * kShare + within;
  }
};

// Calls work(line) for each line of this thread.
template <class Work> RT_DEVICE void for_lines(long long elements, Work work) {
#pragma unroll
  for (int turn = 0; turn < kTurns; turn++) {
    Line line(turn, elements);
    if (line.exists) work(line);
  }
}

template <Axis axis> RT_DEVICE void read_shared(Values& values, const Real* from, const Line& line) {
#pragma unroll
  for (int l = 0; l < kN; l++) values[l] = from[line.shared<axis>(l)];
}
template <Axis axis> RT_DEVICE void write_shared(Real* to, const Values& values, const Line& line) {
#pragma unroll
  for (int l = 0; l < kN; l++) to[line.shared<axis>(l)] = values[l];
}
// Along z the values of a thread are adjacent: accesses of up to 16 bytes.
template <Axis axis> RT_DEVICE void read_global(Values& values, const Real* __restrict__ from, const Line& line) {
  if constexpr (axis == Axis::z) {
#pragma unroll
    for (int l = 0; l < kN; l += kWidth) {
      Pack pack = load_pack(from + line.global<axis>(l));
#pragma unroll
      for (int w = 0; w < kWidth; w++) values[l + w] = pack.v[w];
    }
  } else {
#pragma unroll
    for (int l = 0; l < kN; l++) values[l] = from[line.global<axis>(l)];
  }
}
template <Axis axis> RT_DEVICE void write_global(Real* to, const Values& values, const Line& line) {
  if constexpr (axis == Axis::z) {
#pragma unroll
    for (int l = 0; l < kN; l += kWidth) {
      Pack pack;
#pragma unroll
      for (int w = 0; w < kWidth; w++) pack.v[w] = values[l + w];
      store_pack(to + line.global<axis>(l), pack);
    }
  } else {
#pragma unroll
    for (int l = 0; l < kN; l++) to[line.global<axis>(l)] = values[l];
  }
}

// out = d in
template <int kCopy = 0> RT_DEVICE void apply(Values& out, const Values& in) {
  const Real* d = c_d + kCopy % RT_OPERATOR_COPIES * kPlaneSize;
#pragma unroll
  for (int r = 0; r < kN; r++) {
    Real sum = 0;
#pragma unroll
    for (int l = 0; l < kN; l++) sum = multiply_add(d[r * kN + l], in[l], sum);
    out[r] = sum;
  }
}

// The gradient; share [kElements * kShare].
RT_DEVICE void gradient_lines(Real* share, const Real* u, Real* gx, Real* gy, Real* gz, long long elements) {
  for_lines(elements, [&](const Line& line) {
    Values in, out;
    read_global<Axis::x>(in, u + line.origin(), line);
    write_shared<Axis::x>(share, in, line);
    apply(out, in);
    write_global<Axis::x>(gx + line.origin(), out, line);
  });
  __syncthreads();
  for_lines(elements, [&](const Line& line) {
    Values in, out;
    read_shared<Axis::y>(in, share, line);
    apply(out, in);
    write_global<Axis::y>(gy + line.origin(), out, line);
    read_shared<Axis::z>(in, share, line);
    apply(out, in);
    write_global<Axis::z>(gz + line.origin(), out, line);
  });
}

}  // namespace rt
