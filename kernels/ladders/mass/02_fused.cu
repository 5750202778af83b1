// title: fused, one line per thread
// idea: an element stays in shared memory from the first axis to the last, so that 3 instead of 7 numbers per point are moved:
//       (12 n + 1) / (3 b) FLOP per byte (b bytes a number) instead of (12 n + 1) / (7 b). Along z both interpolations are
//       done in registers
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * max(1, 256 // (n * n)) * n * n * (2 * (n // 2) + 1)
// constant: b
// source: own; the operator is BK1 of Fischer et al. 2020, Scalability of high-performance PDE solvers
#define RT_OPERATOR c_b
#define RT_OPERATOR_COPIES 6  // one for each product
#include "../contraction/fused.cuh"

using rt::Axis;
using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    mass(const Real* u, const Real* w, const Real*, Real* v, long long elements) {
  extern __shared__ double shared[];
  Real* share = (Real*)shared;
  rt::for_lines(elements, [&](const rt::Line& line) {
    rt::Values in, out;
    rt::read_line<rt::kPlaneSize>(in, u + line.global<Axis::x>());
    rt::apply<0>(out, in);
    rt::write_shared<Axis::x>(share, out, line);
  });
  __syncthreads();
  rt::contract_shared<Axis::y, 1>(share, share, elements);
  __syncthreads();
  rt::for_lines(elements, [&](const rt::Line& line) {
    rt::Values values, out;
    rt::read_shared<Axis::z>(values, share, line);
    rt::apply<2>(out, values);
    rt::read_line<1>(values, w + line.global<Axis::z>());
#pragma unroll
    for (int l = 0; l < rt::kN; l++) out[l] *= values[l];
    rt::apply<5, true>(values, out);  // back along the same line
    rt::write_shared<Axis::z>(share, values, line);
  });
  __syncthreads();
  rt::contract_shared<Axis::y, 4, true>(share, share, elements);
  __syncthreads();
  rt::for_lines(elements, [&](const rt::Line& line) {
    rt::Values in, out;
    rt::read_shared<Axis::x>(in, share, line);
    rt::apply<3, true>(out, in);
    rt::write_line<rt::kPlaneSize>(v + line.global<Axis::x>(), out);
  });
}
