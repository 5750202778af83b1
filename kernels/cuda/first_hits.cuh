// The kernel of first hits: a warp has a tile of 8 x 4 pixels.
#pragma once
#include "traverse_single.cuh"
#include "view.cuh"
#include "../integrator/first_hit.h"

extern "C" __global__ void __launch_bounds__(128) first_hits(const __grid_constant__ rt::RenderArgs args) {
  const int tile = args.tile_begin + (int)blockIdx.x * 4 + threadIdx.x / 32;
  const rt::TilePixel at = rt::tile_pixel(args, c_frame.film, tile);
  if (tile >= args.tile_end || !at.inside) return;
  rt::FirstHit& out = ((rt::FirstHit*)args.film)[at.film];
  out = rt::no_hit();
  if (args.sphere_count == 0) return;
  const rt::Ray<float> ray = rt::camera_ray<float, true>(c_camera, c_frame.film, c_frame.sampler, (uint32_t)at.x,
                                                         (uint32_t)at.y, rt::kCenterSample);
  const rt::SceneTables tables = rt::unlit_tables(args);
  const auto filter = rt::sample_hits<float>(tables, 0u, rt::kCenterSample, ray.origin, ray.direction);
  float t = rt::kInfinity;
  uint32_t prim = rt::kNoPrim;
  rt::large_intersect_closest<float>(c_large, c_frame.scene.large_count, ray.origin, ray.direction, rt::kNoPrim, t,
                                     prim, filter);
  const rt::SceneTree tree = rt::scene_tree(args, (const rt::PrimitiveRecord*)args.spheres);
  tree.intersect_closest(ray.origin, ray.direction, rt::kNoPrim, t, prim, filter);
  if (prim == rt::kNoPrim) return;
  out = rt::first_hit(tables, prim, tree.primitive(prim), t, ray.origin, ray.direction);
}
