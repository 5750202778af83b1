// title: warp packets, then single rays
// idea: the 32 camera rays of a warp traverse the tree as one packet; shadow and mirrored rays one by one
// block: 128
// flags: --fmad=false
// source: Reshetov et al. 2005 (frustum culling); Ylitie, Karras, Laine 2017 (wide compressed nodes)
#include "megakernel.cuh"

constexpr int kConstantSpheres = 1024 / rt::kPrimitiveWords;  // with lights and materials, 27 of 64 KiB
__constant__ rt::PrimitiveRecord c_spheres[kConstantSpheres];

// Blocks of a multiprocessor: rays of `ao` gain by more warps, those of `direct` by more registers.
constexpr int kBlocks = RT_INTEGRATORS ? 9 : 8;

extern "C" __global__ void __launch_bounds__(128, kBlocks) render(const __grid_constant__ rt::RenderArgs args) {
  rt::render_block(args, args.sphere_count <= kConstantSpheres ? c_spheres : nullptr);
}
