// The rungs below the production kernel: one thread a pixel, which takes its rays to the spheres by the
// rung's own walk. A rung that leaves something out of the picture fixes those fields of camera and frame
// at compile time, so that the compiler drops the code and the bodies stay the shared ones.
#pragma once
#include "../../cuda/path.cuh"
#include "../../cuda/tables.cuh"

namespace RT_NS {

// what a picture holds; each word includes those before it
enum Shows : int32_t { kFlat, kPerspective, kPhong, kShadows, kMirrors, kSamples };

template <Shows shows>
RT_DEVICE rt::Camera shown_camera(rt::Camera camera) {
  if (shows < kPerspective) camera.kind = kCameraOrthographic;
  return camera;
}

template <Shows shows>
RT_DEVICE rt::Frame shown_frame(rt::Frame frame) {
  if (shows < kPhong) frame.light_count = 0;
  if (shows < kShadows) frame.shadows = 0;
  if (shows < kMirrors) frame.max_depth = 0;
  if (shows < kSamples) frame.filter = kFilterPoint;
  return frame;
}

template <Shows shows, class Walk>
RT_DEVICE void render_pixel(const rt::RenderArgs& args, Walk walk) {
  const int tile = args.tile_begin + (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  if (tile >= args.tile_end) return;
  const rt::Camera camera = shown_camera<shows>(c_camera);
  const rt::Frame frame = shown_frame<shows>(c_frame);
  walk.leave_out((uint32_t)frame.large_count);
  const PathScene scene = path_scene(args, camera, c_lights, c_materials, c_large, frame);
  const TilePixel at = tile_pixel(args, frame, tile);
  if (!at.inside) return;
  float4* out = (float4*)args.film + at.film;
  float4 sum = *out;
  const float row_height = background_height_row<float>(frame.height, (uint32_t)at.y);
  for (int i = 0; i < (shows < kSamples ? 1 : args.sample_count); ++i) {
    Ray<float> ray = camera_ray<float>(camera, frame, (uint32_t)at.x, (uint32_t)at.y, (uint32_t)args.sample_begin + (uint32_t)i);
    float t = kInfinity;
    uint32_t prim = kNoPrim;
    if (args.sphere_count > 0) path_closest(scene, walk, ray, kNoPrim, t, prim);
    float4 l = trace_path(scene, walk, ray, prim, row_height);
    sum = make_float4(sum.x + l.x, sum.y + l.y, sum.z + l.z, sum.w + l.w);
  }
  *out = sum;
}

}  // namespace RT_NS
