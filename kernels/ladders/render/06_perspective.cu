// title: perspective
// idea: rays from one point: a direction and a square root for each pixel
// block: 128
// layout: list
// shows: perspective
// flags: --fmad=false
// source: Shirley, Ray Tracing in One Weekend
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 12) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_shown<rt::kPerspective>(args, rt::constant_list(args));
}
