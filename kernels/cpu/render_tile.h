// One tile of the picture: camera rays, then bounce after bounce, with the shading that RT_FULL_SHADING chooses.
#pragma once
#include "shade.h"

namespace RT_NS {

// Calls fn(film pixel, ray, count) for the pixels of the tile: four rays in a row of a quad are four
// pixels in a row of the picture.
template <class Fn> static void each_row(const rt::SceneView& s, const TileBlocks& blocks, Fn fn) {
  const rt::Frame& f = *s.frame;
  int64_t width = f.film.x1 - f.film.x0;
  for (int block = 0; block < blocks.count(); ++block)
    for (int row = 0; row < kPacket / 4; ++row) {
      int quad = row / 4;
      int x = blocks.x(block) + quad % 2 * 4, y = blocks.y(block) + quad / 2 * 4 + row % 4;
      int n = blocks.rect.x1 - x < 4 ? blocks.rect.x1 - x : 4;
      if (n > 0 && y < blocks.rect.y1)
        fn(s.film + 4 * ((int64_t)(y - f.film.y0) * width + (x - f.film.x0)), block * kPacket + 4 * row, n);
    }
}

static void load_film(const rt::SceneView& s, rt::Scratch& k, const TileBlocks& blocks) {
  each_row(s, blocks, [&](const float* film, int i, int n) {
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < 4; ++c) k.sum[c][i + j] = film[4 * j + c];
  });
}

static void store_film(const rt::SceneView& s, const rt::Scratch& k, const TileBlocks& blocks) {
  each_row(s, blocks, [&](float* film, int i, int n) {
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < 4; ++c) film[4 * j + c] = k.sum[c][i + j];
  });
}

static void add_sample(rt::Scratch& k, int rays) {
  for (int c = 0; c < 4; ++c)
    for (int i = 0; i < rays; i += kWide) store(k.sum[c] + i, load<FW>(k.sum[c] + i) + load<FW>(k.sample[c] + i));
}

// Pixels without a surface, to begin with; whole blocks, as their surfaces are kept.
static void clear_draft(const rt::SceneView& s, const TileBlocks& blocks) {
  for (int y = 0; y < blocks.down * kBlock; ++y) {
    float* depth = draft_at(s, (uint32_t)blocks.rect.x0, (uint32_t)(blocks.rect.y0 + y)) +
                   kDraftDepth * draft_plane(s.frame->film);
    for (int x = 0; x < blocks.across * kBlock; ++x) depth[x] = kNoSurface;
  }
}

void render_tile(const rt::SceneView& s, rt::Scratch& k, rt::TileRect rect) {
  TileBlocks blocks(rect);
  const int rays = blocks.count() * kPacket;
  load_film(s, k, blocks);
  make_pixels(blocks, k);
  if (is_draft(s)) clear_draft(s, blocks);
  for (int n = 0; n < s.frame->sampler.sample_count; ++n) {
    for (int c = 0; c < 3; ++c) memset(k.sample[c], 0, sizeof(float) * (size_t)rays);
    for (int i = 0; i < s.frame->scene.light_count && i < rt::kShadowQueues; ++i) k.shadow[i].count = 0;
    k.queued = 0;
    primary_wave(s, k, blocks, (uint32_t)s.frame->sampler.sample_begin + (uint32_t)n, k.wave[0]);
    for (int depth = 0; k.wave[depth & 1].count; ++depth) {
      rt::Wave &w = k.wave[depth & 1], &next = k.wave[(depth & 1) ^ 1];
      if (depth > 0) trace_wave(s, k, w);
#if RT_FULL_SHADING
      if (nests(*s.frame)) cross_wave(s, k, w);
#endif
      shade_wave(s, k, w, next);
      if (is_cancelled(s)) return;  // the queues are half full: the film keeps what it had
    }
    add_sample(k, rays);
  }
  store_film(s, k, blocks);
}

}  // namespace RT_NS
