// title: tree over spheres, capsules, cones and ellipsoids
// idea: that over spheres, with records of 32 bytes
// block: 128
// grid: 1
// flags: --fmad=false
// source: Benthin et al. 2024; Ylitie et al. 2017
#define RT_SOLIDS 1
#include "build_tree.cuh"
