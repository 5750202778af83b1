// title: linear list of structs
// idea: one thread per pixel tests every sphere; a sphere is a struct in global memory with geometry and
//       colour; parallel rays, flat colours
// block: 128
// layout: aos
// shows: flat
// flags: --fmad=false
// source: Sanders and Kandrot, CUDA by Example, 2010, chapter 6
#include "ladder.cuh"
#include "../../cuda/linear_list.cuh"

// A common first version: 28 bytes, alignment 4, four loads per test. The colour is loaded into the caches
// with the geometry, although shading reads it from the table that all variants share.
struct Record {
  float x, y, z, radius;
  float red, green, blue;
};

struct RecordFetch {
  const Record* spheres;
  RT_DEVICE rt::PrimitiveRecord operator()(uint32_t i) const {
    const Record& s = spheres[i];
    return {{make_float4(s.x, s.y, s.z, s.radius)}};
  }
};

extern "C" __global__ void render(const __grid_constant__ rt::RenderArgs args) {
  rt::LinearList<RecordFetch> list = {{(const Record*)args.spheres}, (uint32_t)args.sphere_count};
  rt::render_shown<rt::kFlat>(args, list);
}
