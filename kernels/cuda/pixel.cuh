// A thread renders its pixel of a warp's tile, sample after sample in ascending order, with any traversal
// (path.cuh).
#pragma once
#include "path.cuh"
#include "tables.cuh"

namespace RT_NS {

template <class Traversal>
RT_DEVICE void render_pixel(const rt::RenderArgs& args, Traversal traversal, const rt::Camera camera,
                            const rt::Frame frame, int samples) {
  const int tile = args.tile_begin + (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  if (tile >= args.tile_end) return;
  traversal.exclude_large((uint32_t)large_count(frame));
  const rt::SceneTables scene = scene_tables(args, camera, c_lights, c_materials, c_large, frame);
  const TilePixel at = tile_pixel(args, frame.film, tile);
  if (!kSharesRays && !at.inside) return;
  float4* out = (float4*)args.film + at.film;
  float4 sum = *out;
  for (int i = 0; i < samples; ++i) {
    const uint32_t x = (uint32_t)at.x, y = (uint32_t)at.y, sample = (uint32_t)args.sample_begin + (uint32_t)i;
    Ray<float> ray = camera_ray<float>(camera, frame.film, frame.sampler, x, y, sample);
    float t = kInfinity;
    PathState<float> path = path_start<float>(ray, kNoPrim, x, y, sample);
    if (args.sphere_count > 0) path_intersect_closest(scene, traversal, path, kNoPrim, t);
    if (is_draft(scene)) clear_draft(scene, x, y);
    float4 l = trace_path(scene, traversal, path);
    sum = make_float4(sum.x + l.x, sum.y + l.y, sum.z + l.z, sum.w + l.w);
  }
  if (at.inside) *out = sum;
}

}  // namespace RT_NS
