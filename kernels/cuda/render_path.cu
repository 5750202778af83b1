// title: path tracing
// idea: camera rays in warp packets, then whole paths, one thread a pixel, with many threads rather than many registers
// block: 128
// flags: --fmad=false
// needs: sm_75+
// source: Kajiya 1986 (path tracing); Veach, Guibas 1995 (multiple importance sampling); Ylitie, Karras, Laine 2017
//   (wide compressed nodes)
#define RT_FULL_SHADING 1
#include "megakernel.cuh"
#include "tables.cuh"

// Blocks of a multiprocessor: paths gain by many warps, `direct` and `ao` where few registers are spilled.
constexpr int kBlocks = RT_PATH_INTEGRATOR ? 8 : 5;

extern "C" __global__ void __launch_bounds__(128, kBlocks) render(const __grid_constant__ rt::RenderArgs args) {
  __shared__ rt::WarpScratch scratch[4];
  int warp = threadIdx.x / 32;
  int tile = args.tile_begin + (int)blockIdx.x * 4 + warp;
  if (tile >= args.tile_end) return;
  rt::SceneTables scene = rt::scene_tables(args, c_camera, c_lights, c_materials, c_large, c_frame);
  rt::PrimitiveSource primitives = {(const rt::PrimitiveRecord*)args.spheres, nullptr};
  rt::render_tile(args, scene, primitives, tile, scratch[warp]);
}
