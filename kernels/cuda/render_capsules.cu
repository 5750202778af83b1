// title: capsules and spheres, with path tracing
// idea: leaves hold capsules, and spheres are capsules without length; one variant knows no paths
// block: 128
// flags: --fmad=false
// source: Kajiya 1986 (path tracing); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#define RT_SOLIDS 1
#if !defined(RT_FULL_SHADING)
#define RT_FULL_SHADING 1
#endif
#include "megakernel.cuh"

constexpr int kBlocks = RT_PATH_INTEGRATOR ? 8 : 5;  // of a multiprocessor

extern "C" __global__ void __launch_bounds__(128, kBlocks) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_block(args, nullptr);
}
