// title: rows of C
// idea: where rows of C are no multiple of 16 bytes, a warp exchanges its values in shared memory, so that a store
//       writes 32 neighbours instead of 32 places 16 bytes apart
// tiles: 128x256, 128x128, 64x128, 64x64, 64x64 parts 2, 64x64 parts 3, 64x64 parts 4, 64x64 parts 5, 64x64 parts 6,
//        64x64 parts 7, 64x64 parts 8, 64x128 parts 2, 64x128 parts 3, 64x128 parts 4, 64x128 parts 6,
//        64x128 parts 8, 128x128 parts 2, 128x128 parts 3, 128x128 parts 4, 128x128 parts 6, 128x128 parts 8,
//        128x256 parts 2, 128x256 parts 4
// schedule: parts
// start: early
// block: 256
// needs: sm_90+
// source: own
#define ROWS_OF_C 1
#include "unit_entries.cuh"
