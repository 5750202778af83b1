// title: any width, both ways
// idea: widths in steps of 16, so that tiles fill a whole number of waves; swapped, the product is that of the
//       transposes, and heights are as free as widths; tiles at the border move back into C; clusters of two by two
// tiles: 64x64..256 by 16, 64x64..256 by 16 cluster 2, 64x64..256 by 32 cluster 2x2, 64x256 cluster 2 turns,
//        128x64..256 by 16, 128x64..256 by 16 cluster 2, 128x64..192 by 32 cluster 2x2, 128x96..192 by 16 turns,
//        128x96..192 by 16 cluster 2 turns, 192x64..192 by 16, 192x64..192 by 16 cluster 2, 256x64..160 by 16,
//        256x64..160 by 16 cluster 2, 64x64..256 by 16 swapped, 64x64..256 by 16 cluster 2 swapped,
//        128x64..256 by 16 swapped, 128x64..256 by 16 cluster 2 swapped, 128x128..192 by 32 turns swapped,
//        192x64..192 by 16 swapped, 192x64..192 by 16 cluster 2 swapped, 256x64..160 by 16 swapped,
//        256x64..160 by 16 cluster 2 swapped, 64x64 parts 2, 64x64 parts 3, 64x64 parts 4, 64x64 parts 5,
//        64x64 parts 6, 64x64 parts 8, 64x96 parts 2, 64x96 parts 4, 64x128 parts 2, 64x128 parts 3, 64x128 parts 4,
//        64x128 parts 6, 64x128 parts 8, 128x64 parts 2, 128x64 parts 3, 128x64 parts 4, 128x64 parts 8,
//        128x96 parts 2, 128x96 parts 3, 128x96 parts 4, 128x128 parts 2, 128x128 parts 3, 128x128 parts 4,
//        128x128 parts 5, 128x128 parts 6, 128x128 parts 8, 128x192 parts 2, 128x192 parts 4, 192x128 parts 2,
//        192x128 parts 3, 192x192 parts 2, 192x192 parts 3
// schedule: parts
// start: early
// block: 384
// needs: sm_90a
// source: own; widths and orientations as in the names of cuBLAS's kernels
#define EARLY 1
#define INSIDE 1
#include "product_entries.cuh"
