// title: any size
// idea: tiles and parts by a model of waves; operands by rows or by columns, aligned or not, with any distance from
//       row to row, each combination a compilation of its own
// tiles: 128x256, 128x128, 64x128, 64x64
// schedule: parts
// block: 256
// needs: sm_80+
// source: own; Osama et al. 2023 (Stream-K)
#include "unit_kernel.cuh"

extern "C" __global__ void __launch_bounds__(UnitPipeline<Plan>::kThreads, PER_SM)
    matmul(const __grid_constant__ UnitArgs args) {
  run_units(args);
}
