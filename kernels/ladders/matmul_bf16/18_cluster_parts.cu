// title: parts within a cluster
// idea: tiles of small products are divided along k among the 2, 4 or 8 blocks of a cluster, which add their sums
//       through distributed shared memory instead of global memory
// tiles: 64x64, 64x64 parts 2, 64x64 parts 4, 64x64 parts 8, 64x128 parts 2, 64x128 parts 4, 128x128 parts 2,
//        128x128 parts 4, 128x256, 128x256 parts 2
// block: 384
// needs: sm_90a
// source: own; PTX ISA, distributed shared memory
#include "product_kernel.cuh"

extern "C" __global__ void __cluster_dims__(CLUSTER* PARTS, 1, 1) __launch_bounds__(Product<Plan>::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
