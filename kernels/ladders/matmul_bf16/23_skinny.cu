// title: skinny products
// idea: few rows, few columns or few steps: multiply-adds of float32 keep up with memory there, and a kernel without
//       tiles needs neither aligned copies of its operands nor the copy engine (../matmul/skinny.cuh)
// tiles: 64x64..256 by 8, 64x64..256 by 8 cluster 2, 64x64..256 by 16 cluster 2x2, 64x64..192 by 16 cluster 4,
//        64x64..256 by 16 cluster 4x2, 64x256 cluster 2 turns, 128x64..256 by 8, 128x64..256 by 8 cluster 2,
//        128x64..192 by 16 cluster 2x2, 128x64..192 by 16 cluster 4x2, 128x96..192 by 8 turns,
//        128x96..192 by 8 cluster 2 turns, 192x64..192 by 8, 192x64..192 by 8 cluster 2, 256x64..160 by 8,
//        256x64..160 by 8 cluster 2, 64x64..256 by 8 swapped, 64x64..256 by 8 cluster 2 swapped,
//        128x64..256 by 8 swapped, 128x64..256 by 8 cluster 2 swapped, 128x128..192 by 32 turns swapped,
//        192x64..192 by 8 swapped, 192x64..192 by 8 cluster 2 swapped, 256x64..160 by 8 swapped,
//        256x64..160 by 8 cluster 2 swapped, 64x64..160 by 8 parts 2, 64x64..128 by 8 parts 3,
//        64x64..128 by 8 parts 4, 64x64 parts 5, 64x64 parts 6, 64x64 parts 8, 64x128 parts 6, 64x128 parts 8,
//        128x64..160 by 8 parts 2, 128x64..160 by 8 parts 3, 128x64..128 by 8 parts 4, 128x64 parts 8,
//        128x128 parts 5, 128x128 parts 6, 128x128 parts 8, 128x192 parts 2, 128x192 parts 4,
//        192x64..192 by 8 parts 2, 192x128 parts 3, 192x192 parts 3, skinny 1..16, direct 1x1,
//        direct 4x4
// schedule: parts
// start: early
// best: always
// block: 384
// needs: sm_90a
// source: own
#include "skinny_entries.cuh"
