// The part of the CPU renderer that is compiled once per instruction set: one tile of the picture.
#pragma once
#include "scene_view.h"

namespace rt {

constexpr int kTileRays = 4096;              // rays of one sample of a tile (64 x 64 pixels)
constexpr int kShadowBatch = 2 * kTileRays;  // shadow rays that are traced together

// rays of one bounce
struct Wave {
  float ox[kTileRays], oy[kTileRays], oz[kTileRays];
  float dx[kTileRays], dy[kTileRays], dz[kTileRays];
  float t[kTileRays];
  float throughput[kTileRays];
  uint32_t prim[kTileRays], self[kTileRays], slot[kTileRays];  // slot: the camera ray it came from
  int count;
};

// shadow rays, with what each adds if nothing blocks it
struct ShadowQueue {
  float px[kShadowBatch], py[kShadowBatch], pz[kShadowBatch];
  float lx[kShadowBatch], ly[kShadowBatch], lz[kShadowBatch];
  float distance[kShadowBatch];
  float r[kShadowBatch], g[kShadowBatch], b[kShadowBatch];
  float a0[kShadowBatch], a1[kShadowBatch];  // coordinates across the light's bundle
  uint32_t slot[kShadowBatch], self[kShadowBatch];
  uint32_t key[kShadowBatch], item[kShadowBatch], swap_key[kShadowBatch], swap_item[kShadowBatch];
  uint8_t light[kShadowBatch], visible[kShadowBatch];
  int count;
};

// One thread's memory, large: on the heap.
struct alignas(64) Scratch {
  Wave wave[2];
  float r[kTileRays], g[kTileRays], b[kTileRays], alpha[kTileRays];
  ShadowQueue shadow;
};

struct TileRect {
  int x0, y0, x1, y1;  // pixels, half open, inside the crop; at most 64 x 64
};

// What each instruction set's copy offers. encode: `count` pixels of film sums to sRGB; scale: 1 / samples.
#define RT_ISA_ENTRIES(ns)                                                                        \
  namespace ns {                                                                                  \
  void render_tile(const rt::SceneView&, rt::Scratch&, rt::TileRect);                             \
  void encode_srgb8(const float* sums, float scale, uint8_t* out, int64_t count);                 \
  void encode_srgb16(const float* sums, float scale, uint16_t* out, int64_t count);               \
  }

}  // namespace rt

RT_ISA_ENTRIES(rt_portable)
RT_ISA_ENTRIES(rt_avx2)
RT_ISA_ENTRIES(rt_avx512)
