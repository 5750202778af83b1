// title: any width, both ways
// idea: widths in steps of 16, so that tiles fit a whole number of waves; swapped, the product is that of the
//       transposes, and heights are as free as widths; clusters of two by two blocks share rows of A as well
// tiles: 64x64..256 by 16, 64x64..256 by 16 cluster 2, 64x64..256 by 32 cluster 2x2, 64x256 cluster 2 turns,
//        128x64..256 by 16, 128x64..256 by 16 cluster 2, 128x64..192 by 32 cluster 2x2, 128x128..192 by 32 turns,
//        128x96..192 by 32 cluster 2 turns, 192x64..192 by 16, 192x64..192 by 16 cluster 2, 256x64..160 by 16,
//        256x64..160 by 16 cluster 2, 64x64..256 by 16 swapped, 64x64..256 by 16 cluster 2 swapped,
//        128x64..256 by 16 swapped, 128x64..256 by 16 cluster 2 swapped, 192x64..192 by 16 swapped,
//        192x64..192 by 16 cluster 2 swapped, 256x64..160 by 16 swapped, 256x64..160 by 16 cluster 2 swapped,
//        64x64 parts 2, 64x64 parts 3, 64x64 parts 4, 64x64 parts 5, 64x64 parts 8, 64x128 parts 2, 64x128 parts 3,
//        64x128 parts 4, 128x64 parts 4, 128x96 parts 2, 128x96 parts 3, 128x128 parts 2, 128x128 parts 3,
//        128x128 parts 4, 128x128 parts 8, 128x192 parts 2, 192x192 parts 3
// schedule: parts
// start: early
// block: 384
// needs: sm_90a
// source: own
#define EARLY 1
#define INSIDE 1
#include "align_rows.cuh"
#include "product_kernel.cuh"

extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void __cluster_dims__(CLUSTER* ACROSS* PARTS, 1, 1)
    __launch_bounds__(Product<Plan>::kThreads, 1) matmul_bf16(const __grid_constant__ ProductArgs args) {
  run_product(args);
}
