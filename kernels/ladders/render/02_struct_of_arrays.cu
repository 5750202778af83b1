// title: struct of arrays
// idea: x, y, z and radius are separate arrays: colours are not loaded, but a test still needs four loads. Slower than
//       structs on an H200 (0.77): all threads of a warp read the same sphere, where neighbours in memory do not help, and
//       four arrays need four addresses per test
// block: 128
// layout: soa
// shows: flat
// flags: --fmad=false
// source: CUDA C++ best practices guide, coalesced access to global memory
#include "ladder.cuh"
#include "../../cuda/linear_list.cuh"

struct ArraysFetch {
  const float *x, *y, *z, *radius;
  RT_DEVICE rt::PrimitiveRecord operator()(uint32_t i) const {
    return {{make_float4(__ldg(x + (size_t)i), __ldg(y + (size_t)i), __ldg(z + (size_t)i), __ldg(radius + (size_t)i))}};
  }
};

extern "C" __global__ void render(const __grid_constant__ rt::RenderArgs args) {
  const float* x = (const float*)args.spheres;
  const size_t n = (size_t)args.sphere_count;
  rt::LinearList<ArraysFetch> list = {{x, x + n, x + 2 * n, x + 3 * n}, (uint32_t)n};
  rt::render_shown<rt::kFlat>(args, list);
}
