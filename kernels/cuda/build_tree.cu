// title: tree over spheres
// idea: sorted along a curve, merged by warps into a binary tree, opened level by level into eight-wide nodes
// block: 128
// grid: 1
// flags: --fmad=false
// source: Benthin et al. 2024; Ylitie et al. 2017
#include "build_tree.cuh"
