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
#include "product_entries.cuh"
