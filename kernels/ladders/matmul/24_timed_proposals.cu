// title: timed proposals
// idea: the eight choices that the model puts first are timed when a size is launched for the first time; the sum of
//       an element then depends on which one is the fastest, so that its last bits may change between runs
// tiles: 128x256, 128x128, 64x128, 64x64, 64x64 parts 2, 64x64 parts 3, 64x64 parts 4, 64x64 parts 5, 64x64 parts 6,
//        64x64 parts 7, 64x64 parts 8, 64x128 parts 2, 64x128 parts 3, 64x128 parts 4, 64x128 parts 6,
//        64x128 parts 8, 128x128 parts 2, 128x128 parts 3, 128x128 parts 4, 128x128 parts 6, 128x128 parts 8,
//        128x256 parts 2, 128x256 parts 4, skinny 1..16, direct 1x1, direct 4x4
// schedule: parts
// start: early
// proposals: 8
// block: 256
// needs: sm_90+
// source: own; cuBLASLt returns several proposals to be timed as well
#include "skinny_entries.cuh"
