// title: one warp per sphere
// idea: the points of a sphere are near each other, so that the rays of a warp meet the same nodes; counts are
//       summed over the warp, and so do not depend on their order
// block: 128
// flags: --fmad=false
// source: Shrake, Rupley 1973 (points on spheres); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#include "exposure.cuh"
