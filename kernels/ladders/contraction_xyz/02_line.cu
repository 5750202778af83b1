// title: one line per thread
// idea: a thread reads a line of u once into registers and computes all its points; the operator is in
//       constant memory and needs no load
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// constant: d
// needs: sm_75+
// source: own
#include "../contraction/lines.cuh"

using rt::Real;

// Along x a thread has line (j, k), along y (i, k), along z (i, j).
template <rt::Axis axis> RT_DEVICE void contract_line(const Real* u, Real* v, long long elements) {
  rt::for_lines(elements, [&](const rt::Line& line, int) {
    rt::Values in, out;
    rt::read_global<axis>(in, u + line.origin(), line);
    rt::apply(out, in);
    rt::write_global<axis>(v + line.origin(), out, line);
  });
}

extern "C" __global__ void __launch_bounds__(256)
    contraction_x(const Real* u, const Real*, Real* v, long long elements) {
  contract_line<rt::Axis::x>(u, v, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    contraction_y(const Real* u, const Real*, Real* v, long long elements) {
  contract_line<rt::Axis::y>(u, v, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    contraction_z(const Real* u, const Real*, Real* v, long long elements) {
  contract_line<rt::Axis::z>(u, v, elements);
}
