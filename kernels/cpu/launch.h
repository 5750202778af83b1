// Rendering a picture tile by tile on all threads, with the best instruction set at hand.
#pragma once
#include "tile.h"

namespace rt {

struct Isa {
  const char* name;
  void (*render)(const SceneView&, Scratch&, TileRect);
  void (*encode8)(const float* sums, float scale, uint8_t* out, int64_t count);
  void (*encode16)(const float* sums, float scale, uint16_t* out, int64_t count);
};

// the sets compiled in that this CPU has, best first; `count` receives how many
const Isa* usable_isas(int* count);
const Isa& current_isa();
bool use_isa(const char* name);

// side of a tile in pixels, 8..64; to be left alone between the calls that make one picture
int tile_size();
void set_tile_size(int pixels);

int64_t tile_count(const Frame& frame);

// Tiles from `first` on, until done or `budget` seconds have passed; returns the first tile not rendered.
// A tile gets all its samples, so pictures cut at any tile are the same.
int64_t render(const SceneView& scene, int64_t first, double budget, int threads);

// Film sums of `count` pixels to sRGB with straight alpha; `bytes` a channel: 1 or 2.
void encode_srgb(const float* sums, float scale, void* out, int bytes, int64_t count, int threads);

}  // namespace rt
