// title: one thread per pixel
// idea: a warp has a tile of 8 x 4 pixels, as for rendering, with single-ray traversal: first hits are
//       computed once per picture and need no packets
// block: 128
// flags: --fmad=false
// source: Ylitie, Karras, Laine 2017 (wide compressed nodes)
#include "first_hits.cuh"
