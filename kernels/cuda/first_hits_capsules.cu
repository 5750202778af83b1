// title: one thread per pixel, with capsules
// idea: as first_hits, of scenes with capsules
// block: 128
// flags: --fmad=false
// source: Ylitie, Karras, Laine 2017 (wide compressed nodes)
#define RT_SOLIDS 1
#include "first_hits.cuh"
