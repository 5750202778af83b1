// title: slices of any width
// idea: a cluster of 3, 5 or 6 blocks divides a tile as well: their slices of the sums differ by 8 columns; more
//       divisions come near to a whole number of waves
// tiles: 64x64, 64x96, 64x128, 64x128 cluster 2, 64x256 cluster 2 turns, 128x64, 128x96, 128x128, 128x128 cluster 2,
//        128x128 turns, 128x128 cluster 2 turns, 128x160, 128x160 cluster 2 turns, 128x192, 128x192 cluster 2,
//        128x224, 128x224 cluster 2, 128x256, 128x256 cluster 2, 192x96, 192x128, 192x128 cluster 2, 192x160,
//        192x192, 192x192 cluster 2, 256x128, 256x128 cluster 2, 256x160, 256x160 cluster 2, 64x64 parts 2,
//        64x64 parts 3, 64x64 parts 4, 64x64 parts 5, 64x64 parts 8, 64x128 parts 2, 64x128 parts 3, 64x128 parts 4,
//        128x64 parts 4, 128x96 parts 2, 128x96 parts 3, 128x128 parts 2, 128x128 parts 3, 128x128 parts 4,
//        128x128 parts 8, 128x192 parts 2, 192x192 parts 3
// schedule: parts
// start: early
// block: 384
// needs: sm_90a
// source: own
#define EARLY 1
#include "product_entries.cuh"
