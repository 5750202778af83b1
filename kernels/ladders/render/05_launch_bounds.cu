// title: launch bounds
// idea: the compiler limits registers to the declared number of threads and blocks per multiprocessor
// block: 128
// layout: list
// shows: flat
// flags: --fmad=false
// needs: sm_75+
// source: CUDA C++ programming guide, launch bounds
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 16) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_shown<rt::kFlat>(args, rt::constant_list(args));
}
