// title: binary BVH
// idea: boxes around halves of the spheres: a ray skips boxes that it misses; nearer child first
// block: 128
// layout: binary
// shows: samples
// flags: --fmad=false
// source: Kay and Kajiya 1986; Aila and Laine 2009 (one thread per ray, with its own stack)
#include "traverse_binary.cuh"
#include "ladder.cuh"

extern "C" __global__ void __launch_bounds__(128, 8) render(const __grid_constant__ rt::RenderArgs args) {
  rt::BinaryTree tree = {(const float4*)args.nodes, (const rt::PrimitiveRecord*)args.spheres};
  rt::render_shown<rt::kSamples>(args, tree);
}
