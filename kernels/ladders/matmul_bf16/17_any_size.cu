// title: any size
// idea: tiles and parts by the model of waves, operands by rows or by columns with any distance from row to row;
//       those whose rows are not aligned to 16 bytes are copied to rows that are, since the engine has no map of
//       them
// tiles: 64x64, 64x64 cluster 2, 64x96, 64x128, 64x128 cluster 2, 64x256 cluster 2 turns, 128x64,
//        128x64 cluster 2, 128x96, 128x96 cluster 2, 128x128, 128x128 cluster 2, 128x128 turns,
//        128x128 cluster 2 turns, 128x160 cluster 2, 128x160 cluster 2 turns, 128x192, 128x192 cluster 2, 128x224,
//        128x224 cluster 2, 128x256, 128x256 cluster 2, 192x128, 192x128 cluster 2, 192x192, 192x192 cluster 2,
//        256x128, 256x128 cluster 2, 256x160, 256x160 cluster 2
// schedule: parts
// block: 384
// needs: sm_90a
// source: own; Osama et al. 2023 (Stream-K)
#include "align_rows.cuh"
#include "product_kernel.cuh"

extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(Product<Plan>::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
