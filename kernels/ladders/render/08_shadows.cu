// title: shadows
// idea: a ray to each light that the surface faces; the first blocker ends it
// block: 128
// layout: list
// shows: shadows
// flags: --fmad=false
// source: Whitted 1980
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_shown<rt::kShadows>(args, rt::constant_list(args));
}
