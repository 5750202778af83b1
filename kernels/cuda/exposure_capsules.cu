// title: one warp per sphere, with capsules
// idea: as exposure, of scenes with capsules
// block: 128
// flags: --fmad=false
// source: Shrake, Rupley 1973 (points on spheres); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#define RT_SOLIDS 1
#include "exposure.cuh"
