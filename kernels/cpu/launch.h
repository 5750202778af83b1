// Rendering a picture tile by tile on all threads, with the best instruction set at hand.
#pragma once
#include "tile.h"
#include "tone_rows.h"

namespace rt {

struct Isa {
  const char* name;
  // Of spheres, then with other solids. Pictures by Phong's model, the same with opacity or clipping planes, all.
  void (*render[3][2])(const SceneView&, Scratch&, TileRect);
  void (*first_hits[2])(const SceneView&, FirstHits, int row);
  void (*exposures[2])(const SceneView&, Exposure*, int64_t count, int64_t begin, int64_t end);
  void (*measure)(const ToneRows&, RowHistogram&);
  void (*tone_map)(const ToneRows&, RowHistogram&);
  void (*clean)(const DraftRows&);
};

// the sets compiled in that this CPU has, best first; `count` receives how many
const Isa* usable_isas(int* count);
const char* processor_isa();  // the best one that this processor has, compiled or not
const Isa& current_isa();
bool use_isa(const char* name);

int64_t tile_count(const Film& film);

// Tiles from `first` on, until done or `budget` seconds have passed; returns the first tile not rendered.
// A tile gets all its samples, so pictures cut at any tile are the same.
int64_t render(const SceneView& scene, int64_t first, double budget, int threads);

// The first hits of the frame's pixels, row by row.
void first_hits(const SceneView& scene, FirstHits out, int threads);

// out: of the first `count` primitives, by number
void exposures(const SceneView& scene, Exposure* out, int64_t count, int threads);

}  // namespace rt
