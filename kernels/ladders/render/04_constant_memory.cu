// title: spheres in constant memory
// idea: all threads of a warp read the same sphere, which constant memory broadcasts from its own cache;
//       scenes that do not fit are read from global memory. The source gained 30% over a list of structs; one 16-byte load
//       is faster on an H200 (0.95), whose first-level cache broadcasts a word to a warp as well
// block: 128
// layout: list
// shows: flat
// flags: --fmad=false
// source: Sanders and Kandrot, CUDA by Example, 2010, chapter 6
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_shown<rt::kFlat>(args, rt::constant_list(args));
}
