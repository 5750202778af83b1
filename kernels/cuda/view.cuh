// What kernels have of a view: its tables in constant memory, the layout that Python checks, and the pixel of a thread.
// Included once by each variant.
#pragma once
#include "../core/layout.h"
#include "../geom/large_sphere.h"
#include "../integrator/scene.h"

__constant__ rt::Camera c_camera;
__constant__ rt::Frame c_frame;
__constant__ rt::LargeSphere c_large[rt::kMaxLargeSpheres];
RT_LAYOUT_TABLE

namespace RT_NS {

// The tables of rays that look at neither lights nor materials.
RT_DEVICE rt::SceneTables unlit_tables(const rt::RenderArgs& a) {
  rt::SceneTables tables = {(const int32_t*)a.order, (const float*)a.color, (const int32_t*)a.color_id};
  tables.camera = &c_camera, tables.frame = &c_frame, tables.large = c_large,
  tables.opacity = (const uint16_t*)a.opacity;
#if RT_IMAGES
  tables.images = (const rt::ImageLattice*)a.images;
#endif
  return tables;
}

// This thread's pixel of a warp's tile; threads beyond the picture's edge go along with a pixel inside.
struct TilePixel {
  int x, y;
  size_t film;  // place in the film
  bool inside;
};

RT_DEVICE TilePixel tile_pixel(const rt::RenderArgs& args, const rt::Film& film, int tile) {
  const int lane = threadIdx.x & 31;
  int x = film.x0 + tile % args.tiles_x * rt::kWarpTileWidth + lane % rt::kWarpTileWidth;
  int y = film.y0 + tile / args.tiles_x * rt::kWarpTileHeight + lane / rt::kWarpTileWidth;
  const bool inside = x < film.x1 && y < film.y1;
  x = min(x, film.x1 - 1), y = min(y, film.y1 - 1);
  return {x, y, (size_t)(y - film.y0) * (size_t)(film.x1 - film.x0) + (size_t)(x - film.x0), inside};
}

}  // namespace RT_NS
