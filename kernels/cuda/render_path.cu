// title: path tracing
// idea: camera rays in warp packets, then whole paths, one thread a pixel, with many threads rather than many registers
// block: 128
// flags: --fmad=false
// source: Kajiya 1986 (path tracing); Veach, Guibas 1995 (multiple importance sampling); Ylitie, Karras, Laine 2017
//   (wide compressed nodes)
#define RT_FULL_SHADING 1
#include "megakernel.cuh"

// Blocks of a multiprocessor: paths gain by many warps, `direct` and `ao` where few registers are spilled.
constexpr int kBlocks = RT_SHARED_STACK ? 8 : RT_PATH_INTEGRATOR ? 9 : 5;

extern "C" __global__ void __launch_bounds__(128, kBlocks) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_block(args, nullptr);
}
