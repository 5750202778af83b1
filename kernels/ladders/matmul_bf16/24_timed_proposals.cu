// title: timed proposals
// idea: the sixteen choices that the model puts first are timed when a size is launched for the first time; the sum of
//       an element then depends on which one is the fastest, so that its last bits may change between runs
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
// proposals: 16
// block: 384
// needs: sm_90a
// source: own; cuBLASLt returns several proposals to be timed as well
#include "skinny_entries.cuh"
