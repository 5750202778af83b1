// The kernel of first hits: a warp has a tile of 8 x 4 pixels.
#pragma once
#include "traverse_single.cuh"
#include "../core/layout.h"
#include "../integrator/first_hit.h"
#include "../integrator/scene.h"

__constant__ rt::Camera c_camera;
__constant__ rt::Frame c_frame;
__constant__ rt::LargeSphere c_large[rt::kMaxLargeSpheres];
RT_LAYOUT_TABLE

extern "C" __global__ void __launch_bounds__(128) first_hits(const __grid_constant__ rt::RenderArgs args) {
  int tile = args.tile_begin + (int)blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const rt::Film& film = c_frame.film;
  int x = film.x0 + tile % args.tiles_x * rt::kWarpTileWidth + lane % rt::kWarpTileWidth;
  int y = film.y0 + tile / args.tiles_x * rt::kWarpTileHeight + lane / rt::kWarpTileWidth;
  if (tile >= args.tile_end || x >= film.x1 || y >= film.y1) return;
  rt::FirstHit& out = ((rt::FirstHit*)args.film)[(size_t)(y - film.y0) * (film.x1 - film.x0) + (x - film.x0)];
  out = rt::no_hit();
  if (args.sphere_count == 0) return;
  rt::Ray<float> ray = rt::center_ray(c_camera, c_frame, (uint32_t)x, (uint32_t)y);
  const rt::SceneTables tables = {(const int32_t*)args.order,
                                  (const float*)args.color,
                                  (const int32_t*)args.color_id,
                                  nullptr,
                                  &c_camera,
                                  nullptr,
                                  nullptr,
                                  c_large,
                                  nullptr,
                                  nullptr,
                                  (const uint16_t*)args.opacity,
                                  &c_frame};
  const auto filter = rt::center_hits(tables, ray.origin, ray.direction);
  float t = rt::kInfinity;
  uint32_t prim = rt::kNoPrim;
  rt::large_intersect_closest<float>(c_large, c_frame.scene.large_count, ray.origin, ray.direction, rt::kNoPrim, t,
                                     prim, filter);
  rt::thread_intersect_closest((const rt::Node*)args.nodes, (const rt::PrimitiveRecord*)args.spheres, ray.origin,
                               ray.direction, rt::kNoPrim, t, prim, filter);
  if (prim == rt::kNoPrim) return;
  const rt::Primitive<float> primitive = rt::load_primitive((const rt::PrimitiveRecord*)args.spheres, prim);
  int32_t sphere = __ldg((const int32_t*)args.order + prim);
  const rt::SurfacePoint<float> point = rt::first_surface(tables, prim, primitive, ray.origin, ray.direction);
#if RT_SOLIDS
  const rt::Vec3<float> albedo = rt::albedo_at(tables, primitive, point, (uint32_t)sphere);
#else
  const rt::Vec3<float> albedo = rt::load_albedo<float>(tables, (uint32_t)sphere);
#endif
  out = rt::first_hit(point, t, albedo, (uint32_t)sphere);
}
