// title: wide compressed BVH
// idea: nodes of eight children in 80 bytes, split by surface area: fewer, larger steps and a tenth of the bytes
// block: 128
// flags: --fmad=false
// source: Ylitie, Karras, Laine 2017 (wide compressed nodes)
#include "pixel.cuh"
#include "tables.cuh"
#include "traverse_single.cuh"

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  const rt::SceneTree tree = rt::scene_tree(args, (const rt::PrimitiveRecord*)args.spheres);
  rt::render_pixel(args, tree, c_camera, c_frame, args.sample_count);
}
