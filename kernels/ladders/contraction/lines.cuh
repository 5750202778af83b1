// Schedules with one thread per line: along x it is line (j, k), along y (i, k), along z (i, j). The thread
// has the n values of its line in registers. The operator is in constant memory with compile-time indices,
// so that it is an operand of the multiply-add and needs no load. Between two axes the values of an
// element are exchanged through shared memory.
#pragma once
#include "contraction.cuh"

#ifndef RT_OPERATOR
#define RT_OPERATOR c_d
#endif
// Copies of the operator. The compiler keeps what several products of one thread read from one address in registers,
// which do not suffice for n > 8; with a copy for each product it is an operand of the multiply-adds.
#ifndef RT_OPERATOR_COPIES
#define RT_OPERATOR_COPIES 1
#endif
__constant__ rt::Real RT_OPERATOR[RT_OPERATOR_COPIES * rt::kPlaneSize];  // [copies][n][n], filled by the host

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
  // offset of its element in arrays with `numbers` numbers per point
  RT_DEVICE long long origin(int numbers = 1) const {
    return ((long long)blockIdx.x * kElements + element) * numbers * kSize;
  }
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

// Calls work(line, turn) for each line of this thread.
template <class Work> RT_DEVICE void for_lines(long long elements, Work work) {
#pragma unroll
  for (int turn = 0; turn < kTurns; turn++) {
    Line line(turn, elements);
    if (line.exists) work(line, turn);
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

// out = d in, or its transpose
template <bool kTransposed = false, int kCopy = 0> RT_DEVICE void apply(Values& out, const Values& in) {
  const Real* d = RT_OPERATOR + kCopy % RT_OPERATOR_COPIES * kPlaneSize;
#pragma unroll
  for (int r = 0; r < kN; r++) {
    Real sum = 0;
#pragma unroll
    for (int l = 0; l < kN; l++) sum = multiply_add(d[kTransposed ? l * kN + r : r * kN + l], in[l], sum);
    out[r] = sum;
  }
}

// The gradient; share [kElements * kShare].
RT_DEVICE void gradient_lines(Real* share, const Real* u, Real* gx, Real* gy, Real* gz, long long elements) {
  for_lines(elements, [&](const Line& line, int) {
    Values in, out;
    read_global<Axis::x>(in, u + line.origin(), line);
    write_shared<Axis::x>(share, in, line);
    apply(out, in);
    write_global<Axis::x>(gx + line.origin(), out, line);
  });
  __syncthreads();
  for_lines(elements, [&](const Line& line, int) {
    Values in, out;
    read_shared<Axis::y>(in, share, line);
    apply(out, in);
    write_global<Axis::y>(gy + line.origin(), out, line);
    read_shared<Axis::z>(in, share, line);
    apply(out, in);
    write_global<Axis::z>(gz + line.origin(), out, line);
  });
}

// The derivatives of an element, for the threads of x lines: along x in registers, along y and z in shared
// memory, in `share` and in the kShare numbers per element behind it. Ends with a barrier.
RT_DEVICE void gradient_kept(Real* share, Values (&gx)[kTurns], const Real* u, long long elements) {
  for_lines(elements, [&](const Line& line, int turn) {
    Values in;
    read_global<Axis::x>(in, u + line.origin(), line);
    write_shared<Axis::x>(share, in, line);
    apply<false, 0>(gx[turn], in);
  });
  __syncthreads();
  Values y[kTurns], z[kTurns];
  for_lines(elements, [&](const Line& line, int turn) {
    Values in;
    read_shared<Axis::y>(in, share, line);
    apply<false, 1>(y[turn], in);
    read_shared<Axis::z>(in, share, line);
    apply<false, 2>(z[turn], in);
  });
  __syncthreads();  // all have read u: its memory is free
  for_lines(elements, [&](const Line& line, int turn) {
    write_shared<Axis::y>(share, y[turn], line);
    write_shared<Axis::z>(share + kElements * kShare, z[turn], line);
  });
  __syncthreads();
}

}  // namespace rt
