// title: warp packets, then threads
// idea: a warp's 32 camera rays walk the tree as one bundle; shadow and mirrored rays walk it alone
// block: 128
// needs: sm_80+
// source: Reshetov et al. 2005 (frustum culling); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#include "../core/layout.h"
#include "megakernel.h"

__constant__ rt::Camera c_camera;
__constant__ rt::Frame c_frame;
__constant__ rt::Light c_lights[64];
__constant__ rt::Material c_materials[256];
constexpr int kConstantSpheres = 1024;  // with the lights and materials, 27 of the 64 KiB
__constant__ float4 c_spheres[kConstantSpheres];
extern "C" __device__ const int layout_table[] = RT_LAYOUT_TABLE;

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  __shared__ rt::WarpScratch scratch[4];
  int warp = threadIdx.x / 32;
  int tile = args.tile_begin + (int)blockIdx.x * 4 + warp;
  if (tile >= args.tile_end) return;
  rt::DeviceScene scene = rt::device_scene(args, c_camera, c_lights, c_materials, c_frame, c_spheres, kConstantSpheres);
  rt::render_tile(args, scene, tile, scratch[warp]);
}
