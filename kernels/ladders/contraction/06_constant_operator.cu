// title: operator in constant memory
// idea: a thread computes a whole line, which it has in registers, with 16-byte stores along k; all indices of the
//       operator are compile-time constants: each value is an operand of the multiply-add, without load or register.
//       Constant memory serves one address at a time: where lanes read different values of the operator, as in the source,
//       it costs half the rate of shared memory
// block: 256
// grid: ceil(elements / max(1, 256 // (n * n)))
// shared: bytes * max(1, 256 // (n * n)) * n * n * (n + 1)
// constant: d
// source: own
#include "lines.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real*, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ double shared[];
  rt::gradient_lines((Real*)shared, u, gx, gy, gz, elements);
}
