// title: skinny products
// idea: few rows, few columns or few steps: a kernel that reads the larger operand once, at the speed of memory, where
//       tiles would be all but empty; k divided among threads, and among blocks of a cluster, without a second launch
// tiles: 128x256, 128x128, 64x128, 64x64, 64x64 parts 2, 64x64 parts 3, 64x64 parts 4, 64x64 parts 5, 64x64 parts 6,
//        64x64 parts 7, 64x64 parts 8, 64x128 parts 2, 64x128 parts 3, 64x128 parts 4, 64x128 parts 6,
//        64x128 parts 8, 128x128 parts 2, 128x128 parts 3, 128x128 parts 4, 128x128 parts 6, 128x128 parts 8,
//        128x256 parts 2, 128x256 parts 4, skinny 1..16, direct 1x1, direct 4x4
// schedule: parts
// start: early
// best: always
// block: 256
// needs: sm_90+
// source: own
#include "skinny_entries.cuh"
