// title: naive
// idea: one thread per point reads a line of u and a row of the operator; caches serve repeated reads
// block: 256
// grid: ceil(elements * n * n * n / block)
// needs: sm_75+
// source: definition
#include "../contraction/naive.cuh"

extern "C" __global__ void __launch_bounds__(256)
    contraction_z(const rt::Real* u, const rt::Real* d, rt::Real* v, long long elements) {
  rt::contract_point<rt::Along::z>(u, d, v, elements);
}
