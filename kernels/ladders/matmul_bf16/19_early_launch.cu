// title: early launch
// idea: the kernel is launched while the kernel ahead of it in the stream still runs, and waits before it reads
//       ("programmatic dependent launch"), so that launch, barriers and tensor maps cost no time; all tiles, and
//       parts within a cluster or through memory, by the model of waves
// tiles: 64x64, 64x64 cluster 2, 64x96, 64x128, 64x128 cluster 2, 64x256 cluster 2 turns, 128x64,
//        128x64 cluster 2, 128x96, 128x96 cluster 2, 128x128, 128x128 cluster 2, 128x128 turns,
//        128x128 cluster 2 turns, 128x160 cluster 2, 128x160 cluster 2 turns, 128x192, 128x192 cluster 2, 128x224,
//        128x224 cluster 2, 128x256, 128x256 cluster 2, 192x128, 192x128 cluster 2, 192x192, 192x192 cluster 2,
//        256x128, 256x128 cluster 2, 256x160, 256x160 cluster 2, 64x64 parts 2, 64x64 parts 4, 64x64 parts 8,
//        64x128 parts 2, 64x128 parts 4, 64x128 parts 8, 128x64 parts 2, 128x64 parts 4, 128x128 parts 2,
//        128x128 parts 4, 128x128 parts 8, 128x192 parts 2, 128x256 parts 2, 128x256 parts 4, 256x128 parts 2
// schedule: parts
// start: early
// block: 384
// needs: sm_90a
// source: PTX ISA, griddepcontrol
#define EARLY 1
#include "product_entries.cuh"
