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
#ifndef RT_OPERATOR
#define RT_OPERATOR c_d
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
  int turn, element, a, b;
  bool exists;

  RT_DEVICE Line(int turn, long long elements) : turn(turn) {
    int t = threadIdx.x + turn * kLineThreads;
    element = kTurns > 1 ? 0 : t / kPlaneSize;
    int line = t - element * kPlaneSize;
    a = line / kN;
    b = line % kN;
    exists = line < kPlaneSize && element < kElements && (long long)blockIdx.x * kElements + element < elements;
  }
  // Place of the first number in an element whose rows and planes begin `row` and `plane` numbers apart.
  template <Axis axis> RT_DEVICE int first(int row, int plane) const {
    if (axis == Axis::x) return a * row + b;
    return a * plane + b * (axis == Axis::y ? 1 : row);
  }
  template <Axis axis> RT_DEVICE long long global() const {
    return ((long long)blockIdx.x * kElements + element) * kSize + first<axis>(kN, kPlaneSize);
  }
  template <Axis axis> RT_DEVICE int shared() const { return element * kShare + first<axis>(kRow, kPlane); }
};

// Calls work(line) for each line of this thread.
template <class Work> RT_DEVICE void for_lines(long long elements, Work work) {
#pragma unroll
  for (int turn = 0; turn < kTurns; turn++) {
    Line line(turn, elements);
    if (line.exists) work(line);
  }
}

// The values of a line, kStep apart. kPacked: by accesses of up to 16 bytes.
template <int kStep, bool kPacked = kStep == 1> RT_DEVICE void read_line(Values& values, const Real* from) {
  constexpr int kTogether = kPacked ? kWidth : 1;
#pragma unroll
  for (int l = 0; l < kN; l += kTogether) {
    if constexpr (kTogether > 1) {
      Pack pack = load_pack(from + l);
#pragma unroll
      for (int w = 0; w < kWidth; w++) values[l + w] = pack.v[w];
    } else {
      values[l] = from[l * kStep];
    }
  }
}
// kGlobal: to global memory
template <int kStep, bool kGlobal = true> RT_DEVICE void write_line(Real* to, const Values& values) {
  constexpr int kTogether = kStep == 1 ? kWidth : 1;
#pragma unroll
  for (int l = 0; l < kN; l += kTogether) {
    if constexpr (kTogether > 1) {
      Pack pack;
#pragma unroll
      for (int w = 0; w < kWidth; w++) pack.v[w] = values[l + w];
      if constexpr (kGlobal)
        store_pack(to + l, pack);
      else
        *(Pack*)(to + l) = pack;
    } else {
      to[l * kStep] = values[l];
    }
  }
}

// out = d in, or that of the transposed operator
template <int kCopy = 0, bool kTransposed = false> RT_DEVICE void apply(Values& out, const Values& in) {
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
  for_lines(elements, [&](const Line& line) {
    Values in, out;
    read_line<kPlaneSize>(in, u + line.global<Axis::x>());
#pragma unroll
    for (int l = 0; l < kN; l++) share[line.shared<Axis::x>() + l * kPlane] = in[l];
    apply(out, in);
    write_line<kPlaneSize>(gx + line.global<Axis::x>(), out);
  });
  __syncthreads();
  for_lines(elements, [&](const Line& line) {
    Values in, out;
    read_line<kRow>(in, share + line.shared<Axis::y>());
    apply(out, in);
    write_line<kN>(gy + line.global<Axis::y>(), out);
    read_line<1, false>(in, share + line.shared<Axis::z>());
    apply(out, in);
    write_line<1>(gz + line.global<Axis::z>(), out);
  });
}

}  // namespace rt
