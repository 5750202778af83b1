// title: parts of tiles
// idea: tiles that would be an incomplete wave are divided along k into equal parts for all multiprocessors
//       ("stream-K"); the owner of a tile adds the parts in the order of k
// tiles: 128x256
// schedule: parts
// block: 256
// needs: sm_80+
// source: Osama et al. 2023 (Stream-K)
#include "unit_kernel.cuh"

extern "C" __global__ void __launch_bounds__(UnitPipeline<Plan>::kThreads, PER_SM)
    matmul(const __grid_constant__ UnitArgs args) {
  run_units(args);
}
