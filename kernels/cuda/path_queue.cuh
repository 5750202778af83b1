// Path tracing by a warp. Paths end after different numbers of bounces, and a warp would wait for its longest. So it
// renders several tiles: their camera rays are traced in packets, what these meet is put into a queue, and a thread
// whose path has ended takes the next one out of it (path regeneration, Novak, Havran, Dachsbacher 2010).
#pragma once
#include "megakernel.cuh"
#include "../integrator/path_tracing.h"

namespace RT_NS {

constexpr int kQueueTiles = RT_QUEUE_TILES;

// The hits of the camera rays of a warp's tiles, in shared memory.
struct PathQueue {
  uint32_t prim[32 * kQueueTiles];
  uint32_t pixel[32 * kQueueTiles];  // 32 times the number of the tile in the warp, and the lane
};

// The tiles of a warp, far apart in the picture so that all warps have much the same to do.
struct WarpTiles {
  const rt::RenderArgs& args;
  int first, stride;

  RT_DEVICE int count() const {
    const int left = args.tile_end - first;
    return left <= 0 ? 0 : min((left + stride - 1) / stride, kQueueTiles);
  }
  RT_DEVICE int tile(int k) const { return first + k * stride; }
};

RT_DEVICE WarpTiles warp_tiles(const rt::RenderArgs& args, int warp) {
  const int tiles = args.tile_end - args.tile_begin, warps = (tiles + kQueueTiles - 1) / kQueueTiles;
  return {args, warp < warps ? args.tile_begin + warp : args.tile_end, warps};
}

RT_DEVICE TilePixel tile_pixel_of(const rt::RenderArgs& args, const rt::Film& film, int tile, int lane) {
  const int x = film.x0 + tile % args.tiles_x * rt::kWarpTileWidth + lane % rt::kWarpTileWidth;
  const int y = film.y0 + tile / args.tiles_x * rt::kWarpTileHeight + lane / rt::kWarpTileWidth;
  return {x, y, (size_t)(y - film.y0) * (size_t)(film.x1 - film.x0) + (size_t)(x - film.x0),
          x < film.x1 && y < film.y1};
}

RT_DEVICE void add_to_film(const rt::RenderArgs& args, const TilePixel& at, Vec3<float> radiance, float coverage) {
  float4* out = (float4*)args.film + at.film;
  const float4 sum = *out;
  *out = make_float4(sum.x + radiance.x, sum.y + radiance.y, sum.z + radiance.z, sum.w + coverage);
}

// What the lights send to a surface of any material, added to `radiance`.
template <class Traversal>
RT_DEVICE Vec3<float> add_path_lights(const rt::SceneTables& s, const Traversal& traversal, const PathState<float>& p,
                                      const Surface<float>& f, const Scattering<float>& scattering,
                                      Vec3<float> radiance) {
  for (int i = 0; i < light_samples(*s.frame); ++i) {
    const LitSample<float> a = shade_path_light(s, i, p, f, scattering);
    if (!a.contributes) continue;
    if (casts_shadows(s, i) && path_occluded(s, traversal, a.origin, a.sample.wi, p.prim, a.sample.distance)) continue;
    radiance = radiance + a.radiance;
  }
  return radiance;
}

// One surface of a path, and the ray from there; returns whether the path goes on to a next surface.
template <class Traversal>
RT_DEVICE bool path_bounce(const rt::SceneTables& s, const Traversal& traversal, PathState<float>& p,
                           Vec3<float>& radiance) {
  const rt::Frame& frame = *s.frame;
  const Surface<float> f = path_surface(s, p, traversal.primitive(p.prim));
  const Scattering<float> scattering = path_scattering(p, f);
  radiance = radiance + shade_emission(frame, p, f, scattering);
  if (!traces_paths(frame.integrator)) {
    const Vec3<float> ambient = shade_path_ambient(frame, p, scattering);
    if (sky_rays(frame.integrator))
      radiance = add_sky(s, traversal, p, f, ambient, radiance);
    else
      radiance = radiance + ambient;
  }
  radiance = add_path_lights(s, traversal, p, f, scattering, radiance);
  const ScatterStep<float> next = scatter_path(frame, p, f, scattering);
  if (!next.continues) return false;
  p = next.step.path;
  float t = next.step.t;
  path_intersect_closest(s, traversal, p.ray, next.step.self, t, p.prim);
  if (traces_paths(frame.integrator))
    for (int i = 0; i < frame.scene.light_count; ++i)
      if (has_extent(s.lights[i])) radiance = radiance + shade_crossing(frame, s.lights[i], p, t);
  if (p.prim != kNoPrim) return true;
  radiance = radiance + shade_sky_miss(frame, p);
  return false;
}

// Traces the camera rays of one sample of a tile; what they meet goes into the queue, which has `count` entries.
RT_DEVICE int queue_camera_rays(const rt::RenderArgs& args, const rt::SceneTables& s, const WideTree& tree,
                                const PrimitiveSource& primitives, const WarpTiles& tiles, int k, uint32_t sample,
                                PathQueue& queue, int count, WarpScratch& scratch) {
  const rt::Frame& frame = *s.frame;
  const int lane = threadIdx.x & 31;
  const TilePixel at = tile_pixel(args, frame.film, tiles.tile(k));  // beyond the edge: a pixel inside
  const Ray<float> ray =
      camera_ray<float>(*s.camera, frame.film, frame.sampler, (uint32_t)at.x, (uint32_t)at.y, sample);
  float t = kInfinity;
  uint32_t prim = kNoPrim;
  if (args.sphere_count > 0) {
    large_intersect_closest<float>(s.large, large_count(frame), ray.origin, ray.direction, kNoPrim, t, prim);
    if (!warp_intersect_closest(tree.nodes, primitives, camera_packet(*s.camera, ray.origin), scratch, ray.origin,
                                ray.direction, t, prim))
      thread_intersect_closest(tree.nodes, primitives.global, ray.origin, ray.direction, kNoPrim, t, prim);
    __syncwarp();
  }
  const bool hit = at.inside && prim != kNoPrim;
  const unsigned hits = __ballot_sync(kFullWarp, hit);
  if (hit) {
    const int to = count + __popc(hits & ((1u << lane) - 1u));
    queue.prim[to] = prim, queue.pixel[to] = (uint32_t)(32 * k + lane);
  } else if (at.inside) {
    const PathState<float> p = path_start<float>(ray, kNoPrim, (uint32_t)at.x, (uint32_t)at.y, sample);
    add_to_film(args, at, shade_miss(frame, p), 0.0f);
  }
  return count + __popc(hits);
}

// Renders the samples of the tiles of a warp. A film does not show how paths and threads came together: each sample
// of a pixel is one path, and its film gets them in ascending order.
RT_DEVICE void render_paths(const rt::RenderArgs& args, const rt::SceneTables& s, const PrimitiveSource& primitives,
                            int warp, PathQueue& queue, WarpScratch& scratch) {
  const rt::Frame& frame = *s.frame;
  const WideTree tree = {(const rt::Node*)args.nodes, primitives.global};
  const WarpTiles tiles = warp_tiles(args, warp);
  const int lane = threadIdx.x & 31;
  for (int i = 0; i < args.sample_count; ++i) {
    const uint32_t sample = (uint32_t)args.sample_begin + (uint32_t)i;
    int count = 0, next = 0;
    for (int k = 0; k < tiles.count(); ++k)
      count = queue_camera_rays(args, s, tree, primitives, tiles, k, sample, queue, count, scratch);
    __syncwarp();
    PathState<float> p = {};
    Vec3<float> radiance = {0.0f, 0.0f, 0.0f};
    TilePixel at = {};
    bool active = false;
    for (;;) {
      const unsigned idle = __ballot_sync(kFullWarp, !active);
      const int mine = next + __popc(idle & ((1u << lane) - 1u));
      if (!active && mine < count) {
        const uint32_t pixel = queue.pixel[mine];
        at = tile_pixel_of(args, frame.film, tiles.tile((int)(pixel >> 5)), (int)(pixel & 31u));
        const uint32_t x = (uint32_t)at.x, y = (uint32_t)at.y;
        const Ray<float> ray = camera_ray<float>(*s.camera, frame.film, frame.sampler, x, y, sample);
        p = path_start<float>(ray, queue.prim[mine], x, y, sample);
        radiance = {0.0f, 0.0f, 0.0f};
        active = true;
      }
      next = min(next + __popc(idle), count);
      if (!__any_sync(kFullWarp, active)) break;
      if (active && !path_bounce(s, tree, p, radiance)) {
        add_to_film(args, at, radiance, 1.0f);
        active = false;
      }
      __syncwarp();
    }
  }
}

}  // namespace RT_NS
