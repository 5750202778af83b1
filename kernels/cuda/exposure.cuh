// The kernel of how far spheres are exposed: a warp has a sphere, and each thread some of its points.
#pragma once
#include "traverse_single.cuh"
#include "warp_reduce.cuh"
#include "view.cuh"
#include "../integrator/exposure.h"

// args.film: Exposure by number, of the first `tile_end` primitives
extern "C" __global__ void __launch_bounds__(128) exposure(const __grid_constant__ rt::RenderArgs args) {
  const int64_t prim = (int64_t)blockIdx.x * 4 + threadIdx.x / 32;
  if (prim >= args.sphere_count) return;
  const int32_t number = __ldg((const int32_t*)args.order + prim);
  if (number >= args.tile_end) return;
  const rt::SceneTables tables = rt::unlit_tables(args);
  const rt::PrimitiveRecord* records = (const rt::PrimitiveRecord*)args.spheres;
  const rt::WideTree tree = {(const rt::Node*)args.nodes, records};
  const rt::Sphere<float> sphere = rt::emitting_sphere(rt::load_primitive(records, (size_t)prim));
  const int lane = threadIdx.x % 32;
  rt::Exposure counts = rt::exposure_of(tree, tables, sphere, (uint32_t)prim, (uint32_t)number, lane, 32);
  counts.exposed = (int32_t)rt::warp_add((unsigned)counts.exposed);
  counts.open = (int32_t)rt::warp_add((unsigned)counts.open);
  counts.visible = (int32_t)rt::warp_add((unsigned)counts.visible);
  if (lane == 0) ((rt::Exposure*)args.film)[number] = counts;
}
