// title: every sphere for every ray
// idea: for scenes of a few spheres, in constant memory, which broadcasts a sphere to all threads of a warp
// block: 128
// flags: --fmad=false
// source: Sanders and Kandrot, CUDA by Example, 2010, chapter 6
#include "pixel.cuh"
#include "tables.cuh"
#include "constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_pixel(args, rt::constant_list(args), c_camera, c_frame, args.sample_count);
}
