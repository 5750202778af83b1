// title: Phong shading
// idea: the lights, with diffuse and specular terms
// block: 128
// layout: list
// shows: phong
// needs: sm_80+
// source: Phong 1975
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 12) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_pixel<rt::kPhong>(args, rt::constant_list(args));
}
