// title: register banks
// idea: a multiply-add whose operands are in one of the two register banks takes two cycles. The sums are
//       multiplied by a factor before 16-byte stores, which otherwise force them into the banks of their factors;
//       columns forwards and backwards in turn keep a factor in the operand cache
// tiles: 128x256
// block: 256
// needs: sm_80+
// source: own; Huerta et al. 2025 (register file of NVIDIA GPUs)
#include "unit_kernel.cuh"

extern "C" __global__ void __launch_bounds__(UnitPipeline<Plan>::kThreads, PER_SM)
    matmul(const __grid_constant__ UnitArgs args) {
  run_units(args);
}
