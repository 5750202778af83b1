// title: Phong shading
// idea: the lights, with diffuse and specular terms
// block: 128
// layout: list
// shows: phong
// flags: --fmad=false
// source: Phong 1975
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 12) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_shown<rt::kPhong>(args, rt::constant_list(args));
}
