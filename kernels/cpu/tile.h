// The part of the CPU renderer that is compiled once per instruction set: one tile of the picture.
#pragma once
#include "scene_view.h"

namespace rt {

constexpr int kTileSide = 64;                // pixels
constexpr int kTileRays = kTileSide * kTileSide;  // rays of one sample of a tile
constexpr int kShadowBatch = kTileRays;      // shadow rays to one light that are traced together: those of a bounce
constexpr int kShadowQueues = 8;             // lights that have a queue at the same time (0.3 MB each)

// Arrays side by side must not lie a multiple of 4096 bytes apart, or they fight for the same few lines
// of the first cache; and a vector may be stored past the last ray.
constexpr int kRayStride = kTileRays + 48;
constexpr int kShadowStride = kShadowBatch + 80;

// rays of one bounce
struct Wave {
  float origin[3][kRayStride], direction[3][kRayStride], t[kRayStride];
  float throughput[3][kRayStride];  // RGB; of camera rays it is 1 and not stored
  float scatter_pdf[kRayStride];    // of the direction, where paths are traced; not stored of camera rays
  uint32_t prim[kRayStride], self[kRayStride], slot[kRayStride];  // slot: the camera ray it came from
  uint32_t solid[4][kRayStride];  // Interior of nested glass, where there is any; then throughput of camera
  float index_here[kRayStride], index_beyond[kRayStride];  // rays, too, and scatter_pdf are stored
  int count;
  int depth;  // 0: camera rays; slot i is ray i
  uint32_t sample;
};

// shadow rays to one light, with what each adds if nothing blocks it
struct ShadowQueue {
  float origin[3][kShadowStride], direction[3][kShadowStride], distance[kShadowStride];
  float radiance[3][kShadowStride];
  float across_a[kShadowStride], across_b[kShadowStride];  // coordinates in the frame of the packet
  uint32_t slot[kShadowStride], self[kShadowStride];
  uint32_t key[kShadowStride], item[kShadowStride], swap_key[kShadowStride], swap_item[kShadowStride];
  uint8_t visible[kShadowStride];
  int count;
};

constexpr int kStreamRays = 8192;  // rays that go down the tree together
constexpr int kStreamLists = 16 * kStreamRays;  // numbers in lists of rays of nodes that wait

// A ray of a stream (stream.h): one line of the cache.
struct alignas(64) StreamRay {
  float origin[3], t;  // t: of the nearest hit so far or the end of the segment; negative: blocked
  float inverse[3];  // 1 / direction
  uint32_t self;  // is not tested
  float shift[3];  // -origin / direction
  uint32_t prim;  // nearest hit so far
  float direction[3];
  uint32_t slot;  // the camera ray it came from
};

// Rays that lead anywhere, collected to be traced together.
struct RayStream {
  StreamRay ray[kStreamRays];
  uint32_t sorted[kStreamRays], list[kStreamLists];
  uint8_t mask[kStreamRays + 16];
  uint32_t open[kStreamRays / 8];  // of occlusion rays: for a vector of surfaces and a ray, the lanes not blocked
  int count;
};

// One thread's memory, large: on the heap.
struct alignas(64) Scratch {
  Wave wave[2];
  float sample[4][kRayStride];  // RGBA of one
  float sum[4][kRayStride];     // the film's values of the tile's pixels
  uint32_t x[kRayStride], y[kRayStride];  // the pixels of the slots
  RayStream stream;
  ShadowQueue* shadow;  // one for each light of a group: kShadowQueues, or fewer if there are fewer lights
  int queued;  // rays shaded since the queues were empty: no queue holds more
};

constexpr int kBlockRows = 8;  // of pixels whose camera rays are a packet

struct TileRect {
  int x0, y0, x1, y1;  // pixels, half open, inside the crop; at most 64 x 64
};

// Where first hits of a whole crop go: all of each, or its number alone.
struct FirstHits {
  FirstHit* hits = nullptr;
  uint32_t* numbers = nullptr;
};

// What each instruction set's copy offers.
#define RT_ISA_ENTRIES(ns)                                            \
  namespace ns {                                                      \
  void render_tile(const rt::SceneView&, rt::Scratch&, rt::TileRect); \
  void first_hit_rows(const rt::SceneView&, rt::FirstHits, int row);  \
  void exposure_rows(const rt::SceneView&, rt::Exposure*, int64_t count, int64_t begin, int64_t end); \
  }

// One for each kind of picture, as RT_NS_OF names them.
#define RT_ISA_COPIES(ns)                                                                                    \
  RT_ISA_ENTRIES(ns) RT_ISA_ENTRIES(ns##_filtered) RT_ISA_ENTRIES(ns##_paths) RT_ISA_ENTRIES(ns##_capsules) \
  RT_ISA_ENTRIES(ns##_filtered_capsules) RT_ISA_ENTRIES(ns##_capsule_paths)

}  // namespace rt

RT_ISA_COPIES(rt_portable)
RT_ISA_COPIES(rt_avx2)
RT_ISA_COPIES(rt_avx512)
