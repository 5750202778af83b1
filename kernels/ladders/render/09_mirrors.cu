// title: mirrors
// idea: mirrored rays in a loop instead of a recursion, with a throughput
// block: 128
// layout: list
// shows: mirrors
// flags: --fmad=false
// source: Whitted 1980
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_shown<rt::kMirrors>(args, rt::constant_list(args));
}
