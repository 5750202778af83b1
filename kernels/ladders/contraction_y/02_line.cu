// title: a line a thread
// idea: a line of u in registers is read once and serves all its points; the operator is in constant
//       memory and costs no load
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// constant: d
// needs: sm_80+
// source: own
#include "../contraction/lines.cuh"

extern "C" __global__ void __launch_bounds__(256)
    contraction_y(const rt::Real* u, const rt::Real*, rt::Real* v, long long elements) {
  rt::contract<rt::Axis::y>(u, v, elements);
}
