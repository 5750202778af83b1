// title: one line per thread
// idea: a thread reads a line of u along z once into registers and computes all its points; the operator is in constant memory
//       and needs no load. Along z a line is contiguous: pieces of up to 16 bytes, those of neighbouring threads n numbers
//       apart
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// constant: d
// source: own
#include "../contraction/one_axis.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction_z(const Real* u, const Real*, Real* v, long long elements) {
  rt::contract_line<rt::Axis::z>(u, v, elements);
}
