// title: capsules and spheres, with path tracing
// idea: leaves hold capsules, and spheres are capsules without length; one variant knows no paths
// block: 128
// flags: --fmad=false
// needs: sm_75+
// source: Kajiya 1986 (path tracing); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#define RT_SOLIDS 1
#if !defined(RT_FULL_SHADING)
#define RT_FULL_SHADING 1
#endif
#include "megakernel.cuh"
#include "tables.cuh"

constexpr int kBlocks = RT_PATH_INTEGRATOR ? 8 : 5;  // of a multiprocessor, as in render_path.cu

extern "C" __global__ void __launch_bounds__(128, kBlocks) render(const __grid_constant__ rt::RenderArgs args) {
  __shared__ rt::WarpScratch scratch[4];
  int warp = threadIdx.x / 32;
  int tile = args.tile_begin + (int)blockIdx.x * 4 + warp;
  if (tile >= args.tile_end) return;
  rt::SceneTables scene = rt::scene_tables(args, c_camera, c_lights, c_materials, c_large, c_frame);
  rt::PrimitiveSource primitives = {(const rt::PrimitiveRecord*)args.spheres, nullptr};
  rt::render_tile(args, scene, primitives, tile, scratch[warp]);
}
