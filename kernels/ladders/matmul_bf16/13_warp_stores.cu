// title: stores by warps
// idea: C in float32 or bfloat16, staged as 8 x 8 matrices (stmatrix). Each warp stores its own 16 rows, so that
//       no warp waits for another; the first product of a tile replaces the sums, which are never set to zero
// tiles: 128x256
// block: 384
// needs: sm_90a
// source: PTX ISA, stmatrix; pranjalssh, fast.cu
#include "product_kernel.cuh"

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(Product<Plan>::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
