// title: parts within a cluster
// idea: tiles of small products are divided along k among the 2 to 8 blocks of a cluster, which add their sums
//       through distributed shared memory instead of global memory
// tiles: 128x256, 128x128, 64x128, 64x64, 64x64 parts 2, 64x64 parts 3, 64x64 parts 4, 64x64 parts 5, 64x64 parts 6,
//        64x64 parts 7, 64x64 parts 8, 64x128 parts 2, 64x128 parts 3, 64x128 parts 4, 64x128 parts 6,
//        64x128 parts 8, 128x128 parts 2, 128x128 parts 3, 128x128 parts 4, 128x128 parts 6, 128x128 parts 8,
//        128x256 parts 2, 128x256 parts 4
// schedule: parts
// start: early
// block: 256
// needs: sm_90+
// source: own; PTX ISA, distributed shared memory
#include "unit_entries.cuh"
