// title: tiles in turns
// idea: the two warpgroups take tiles of 128 x 128 in turns ("pingpong"): while one stores C, the other multiplies,
//       so that the tensor cores do not wait for stores
// tiles: 128x128 turns
// block: 384
// needs: sm_90a
// source: NVIDIA CUTLASS, ping-pong kernel of Hopper
#include "product_kernel.cuh"

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(Product<Plan>::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
