// title: naive
// idea: one thread per point reads a line of u along x and a row of the operator; caches serve repeated reads
// block: 256
// grid: ceil(elements * n * n * n / block)
// source: definition
#include "../contraction/one_axis.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction_x(const Real* u, const Real* d, Real* v, long long elements) {
  rt::contract_point<rt::Axis::x>(u, d, v, elements);
}
