// title: warp packets, then single rays
// idea: the 32 camera rays of a warp traverse the tree as one packet; shadow and mirrored rays one by one
// block: 128
// flags: --fmad=false
// needs: sm_75+
// source: Reshetov et al. 2005 (frustum culling); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#include "megakernel.cuh"
#include "tables.cuh"

constexpr int kConstantSpheres = 1024 / rt::kPrimitiveWords;  // with lights and materials, 27 of 64 KiB
__constant__ rt::PrimitiveRecord c_spheres[kConstantSpheres];

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  __shared__ rt::WarpScratch scratch[4];
  int warp = threadIdx.x / 32;
  int tile = args.tile_begin + (int)blockIdx.x * 4 + warp;
  if (tile >= args.tile_end) return;
  rt::SceneTables scene = rt::scene_tables(args, c_camera, c_lights, c_materials, c_large, c_frame);
  rt::PrimitiveSource primitives = {(const rt::PrimitiveRecord*)args.spheres,
                                    args.sphere_count <= kConstantSpheres ? c_spheres : nullptr};
  rt::render_tile(args, scene, primitives, tile, scratch[warp]);
}
