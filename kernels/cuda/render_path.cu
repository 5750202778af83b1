// title: path tracing
// idea: camera rays in warp packets; then threads follow paths, and take new ones as these end
// block: 128
// flags: --fmad=false
// needs: sm_80+
// source: Kajiya 1986 (path tracing); Veach, Guibas 1995 (multiple importance sampling); Novak, Havran,
//   Dachsbacher 2010 (path regeneration); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#define RT_PATH_TRACING 1
#if !defined(RT_QUEUE_TILES)
#define RT_QUEUE_TILES 8
#endif
#if !defined(RT_BLOCKS)
#define RT_BLOCKS 8
#endif
#include "path_queue.cuh"
#include "tables.cuh"

extern "C" __global__ void __launch_bounds__(128, RT_BLOCKS) render(const __grid_constant__ rt::RenderArgs args) {
  __shared__ rt::WarpScratch scratch[4];
  __shared__ rt::PathQueue queue[4];
  int warp = threadIdx.x / 32;
  rt::SceneTables scene = rt::scene_tables(args, c_camera, c_lights, c_materials, c_large, c_frame);
  rt::PrimitiveSource primitives = {(const rt::PrimitiveRecord*)args.spheres, nullptr};
  rt::render_paths(args, scene, primitives, (int)blockIdx.x * 4 + warp, queue[warp], scratch[warp]);
}
