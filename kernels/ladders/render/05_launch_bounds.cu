// title: launch bounds
// idea: `__launch_bounds__` names the threads of a block and the blocks that a multiprocessor is to have at once, so that the
//       compiler keeps to so many registers: 16 blocks of 128 threads are all of its 2048 threads, with 32 registers each
//       instead of 78. As fast as without on an H200 (0.99 to 1.01): more warps hide each other's waits, but what 32
//       registers cannot hold is spilled to local memory
// block: 128
// layout: list
// shows: flat
// flags: --fmad=false
// source: CUDA C++ programming guide, launch bounds
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 16) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_shown<rt::kFlat>(args, rt::constant_list(args));
}
