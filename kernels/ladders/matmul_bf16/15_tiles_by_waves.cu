// title: tiles by a model of waves
// idea: the last wave is as full as the tile allows. Of the tiles below, the one is taken for which the predicted
//       time, waves times the measured costs of a step and of a tile, is the shortest
// tiles: 64x64, 64x128, 128x96, 128x128, 128x160 cluster 2, 128x192, 128x256, 128x256 cluster 2, 192x192,
//        256x128, 256x160 cluster 2
// block: 384
// needs: sm_90a
// source: deepseek-ai, DeepGEMM (a model of cost chooses the tile)
#include "product_kernel.cuh"

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(Product<Plan>::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
