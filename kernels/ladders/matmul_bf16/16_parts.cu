// title: parts of tiles
// idea: tiles that would be an incomplete wave are divided along k into equal parts for all multiprocessors
//       ("stream-K"); the owner of a tile adds the parts in the order of k
// tiles: 128x256
// schedule: parts
// block: 384
// needs: sm_90a
// source: Osama et al. 2023 (Stream-K)
#include "product_kernel.cuh"

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(Product<Plan>::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
