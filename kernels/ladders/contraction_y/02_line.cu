// title: one line per thread
// idea: a thread reads a line of u along y once into registers and computes all its points; the operator is in constant memory
//       and needs no load. Along y neighbouring threads read neighbouring lines of a plane
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// constant: d
// source: own
#include "../contraction/one_axis.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction_y(const Real* u, const Real*, Real* v, long long elements) {
  rt::contract_line<rt::Axis::y>(u, v, elements);
}
