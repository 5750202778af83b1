// title: antialiasing
// idea: several samples a pixel, placed so that they follow the filter, added in registers
// block: 128
// layout: list
// shows: samples
// needs: sm_80+
// source: Owen-scrambled Sobol points: Burley 2020; filter importance sampling: Ernst et al. 2006
#include "ladder.cuh"
#include "../../cuda/constant_list.cuh"

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_pixel<rt::kSamples>(args, rt::constant_list(args));
}
