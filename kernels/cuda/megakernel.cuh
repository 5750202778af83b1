// The body of a CUDA render kernel: a warp renders a tile of 8 x 4 pixels, a thread its pixel, sample
// after sample in ascending order, so that a film does not show how its samples were cut into launches.
#pragma once
#include "traverse_single.cuh"
#include "traverse_packet.cuh"
#include "path.cuh"
#include "tables.cuh"

namespace RT_NS {

RT_DEVICE WarpPacket camera_packet(const rt::Camera& cam, Vec3<float> origin) {
  WarpPacket f;
  f.parallel = cam.kind == kCameraOrthographic;
  f.axis = splat3<float>(cam.forward);
  f.u = normalize(splat3<float>(cam.right));
  f.v = normalize(splat3<float>(cam.up));
  f.apex.x = __shfl_sync(kFullWarp, origin.x, 0);
  f.apex.y = __shfl_sync(kFullWarp, origin.y, 0);
  f.apex.z = __shfl_sync(kFullWarp, origin.z, 0);
  // parallel rays start on one plane, each point of it rounded to its own size
  f.reach = f.parallel ? max_abs(f.apex) : 0.0f;
  return f;
}

RT_DEVICE void render_tile(const rt::RenderArgs& args, const rt::SceneTables& s, const PrimitiveSource& primitives,
                           int tile, WarpScratch& scratch) {
  const rt::Frame& frame = *s.frame;
  const TilePixel at = tile_pixel(args, frame.film, tile);
  SceneTree tree = scene_tree(args, primitives.global);
  static_assert(sizeof(WarpScratch) >= 32 * kSharedEntries * sizeof(StackEntry));
  tree.shared = (StackEntry*)&scratch + (threadIdx.x & 31u);
  float4* out = (float4*)args.film + at.film;
  float4 sum = *out;
  // until a packet was left: those of the tile's later samples would be too
  bool coherent = !RT_IMAGES && (!RT_FULL_SHADING || is_pinhole(*s.camera));
  for (int i = 0; i < args.sample_count; ++i) {
    const uint32_t x = (uint32_t)at.x, y = (uint32_t)at.y, sample = (uint32_t)args.sample_begin + (uint32_t)i;
    Ray<float> ray = camera_ray<float>(*s.camera, frame.film, frame.sampler, x, y, sample);
    float t = kInfinity;
    uint32_t prim = kNoPrim;
    if (args.sphere_count > 0) {
      const auto filter = ray_filter<float>(s, x, y, sample, ray.origin, ray.direction);
      large_intersect_closest<float>(s.large, large_count(frame), ray.origin, ray.direction, kNoPrim, t, prim, filter);
      if (coherent)
        coherent = warp_intersect_closest(tree.nodes, primitives, camera_packet(*s.camera, ray.origin), scratch,
                                          ray.origin, ray.direction, t, prim, filter);
      __syncwarp();  // scratch is the memory of tree.shared from here on
      if (!coherent) tree.intersect_closest(ray.origin, ray.direction, kNoPrim, t, prim, filter);
      __syncwarp();
    }
    if (is_draft(s)) clear_draft(s, x, y);
    float4 l = trace_path(s, tree, path_start<float>(ray, prim, x, y, sample));
    sum = make_float4(sum.x + l.x, sum.y + l.y, sum.z + l.z, sum.w + l.w);
    __syncwarp();
  }
  if (at.inside) *out = sum;
}

// A block of four warps. in_constant: the spheres, where they are in constant memory too.
RT_DEVICE void render_block(const rt::RenderArgs& args, const PrimitiveRecord* in_constant) {
  __shared__ WarpScratch scratch[4];
  const int warp = threadIdx.x / 32, tile = args.tile_begin + (int)blockIdx.x * 4 + warp;
  if (tile >= args.tile_end) return;
  const rt::SceneTables scene = scene_tables(args, c_camera, c_lights, c_materials, c_large, c_frame);
  render_tile(args, scene, {(const PrimitiveRecord*)args.spheres, in_constant}, tile, scratch[warp]);
}

}  // namespace RT_NS
