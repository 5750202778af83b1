// title: one 16-byte load per sphere
// idea: geometry separate from colours, and the four numbers of a sphere in one aligned word: one load per
//       test
// block: 128
// layout: list
// shows: flat
// flags: --fmad=false
// source: CUDA C++ programming guide, device memory accesses
#include "ladder.cuh"
#include "../../cuda/linear_list.cuh"

extern "C" __global__ void render(const __grid_constant__ rt::RenderArgs args) {
  rt::LinearList<rt::VectorFetch> list = {{(const rt::PrimitiveRecord*)args.spheres}, (uint32_t)args.sphere_count};
  rt::render_shown<rt::kFlat>(args, list);
}
