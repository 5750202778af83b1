// Rows of a film, once per instruction set: statistics eight pixels at a time, in their order, and pictures kWide.
#include "../film/tone_map.h"
#include "../film/histogram.h"
#include "../integrator/draft.h"
#include "tone_rows.h"
#include "wide.h"

namespace RT_NS {

static constexpr int kPixels = 8;

template <class F>
struct Pixels {
  F r, g, b, a;
};

// `left` pixels, or as many as there are lanes; those beyond are without light and coverage
template <class F> RT_HD Pixels<F> load_pixels(const float* sums, int64_t left) {
  Pixels<F> p;
  alignas(64) float padded[4 * Lanes<F>::count] = {};
  if (left < Lanes<F>::count) {
    memcpy(padded, sums, sizeof(float) * 4 * (size_t)left);
    sums = padded;
  }
  load_transposed(sums, p.r, p.g, p.b, p.a);
  return p;
}

RT_HD float reduce_add(F8 v) {
  alignas(32) float lane[8];
  store(lane, v);
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

// vectors that are added in float32 lanes before they are added to the statistics in double
static constexpr int kLaneSums = 4096;

// Updates bins, sums and extremes of the histogram.
void measure_rows(const rt::ToneRows& w, rt::RowHistogram& t) {
  const rt::ToneArgs& a = *w.args;
  // rows matter for the background alone; without it, all pixels are one row
  const bool removes = removes_background(a), all = measures_all(a);
  const int64_t rows = removes ? w.count : 1, width = removes ? a.width : (int64_t)a.width * w.count;
  F8 light(0.0f), logs(0.0f), darkest(t.darkest), brightest(t.brightest);
  for (int64_t row = 0; row < rows; ++row) {
    const float* sums = w.sums + 4 * row * width;
    const U8 y((uint32_t)(a.y0 + w.first + row));
    for (int64_t at = 0; at < width; at += kPixels) {
      if (at % (kLaneSums * kPixels) == 0) {
        t.luminance += reduce_add(light), t.log2 += reduce_add(logs);
        light = logs = F8(0.0f);
      }
      int n = width - at < kPixels ? (int)(width - at) : kPixels;
      Pixels<F8> p = load_pixels<F8>(sums + 4 * at, n);
      FilmPixel<F8> s = {p.r, p.g, p.b, all ? F8((float)a.samples) : p.a};
      if (removes) s = without_background(a, s, y);
      PixelLight<F8> found = pixel_light(s.r, s.g, s.b, s.alpha);
      alignas(32) uint32_t bin[8];
      store(bin, found.bin);
      for (int i = 0; i < n; ++i) ++t.bins[bin[i]];
      light = light + found.luminance;
      logs = logs + select(found.lit, log2_(max_(found.luminance, F8(kDarkest))), F8(0.0f));
      darkest = min_(darkest, select(found.lit, found.luminance, F8(kInfinity)));
      brightest = max_(brightest, select(found.lit, found.luminance, F8(0.0f)));
    }
  }
  t.luminance += reduce_add(light), t.log2 += reduce_add(logs);
  alignas(32) float low[8], high[8];
  store(low, darkest), store(high, brightest);
  for (int i = 0; i < 8; ++i) t.darkest = min_(t.darkest, low[i]), t.brightest = max_(t.brightest, high[i]);
}

RT_HD void store_codes(uint8_t* out, const PixelCodes<FW>& c, int n) {
  alignas(64) uint32_t rgba[kWide];
  store(rgba, c.r | (c.g << 8) | (c.b << 16) | (c.a << 24));
  memcpy(out, rgba, 4 * (size_t)n);
}

RT_HD void store_codes(uint16_t* out, const PixelCodes<FW>& c, int n) {
  alignas(64) uint32_t rg[kWide], ba[kWide], both[2 * kWide];
  store(rg, c.r | (c.g << 16)), store(ba, c.b | (c.a << 16));
  for (int i = 0; i < kWide; ++i) both[2 * i] = rg[i], both[2 * i + 1] = ba[i];
  memcpy(out, both, 8 * (size_t)n);
}

// A row of a film in which a pixel has a part of the samples of its eight neighbours. buffer: two rows, and a pixel more
static const float* smooth_row(const rt::ToneRows& w, int row, float* buffer) {
  const rt::ToneArgs& a = *w.args;
  const int64_t floats = 4 * (int64_t)a.width;
  const int y = w.first + row;
  const float* own = w.sums + row * floats;
  const float *above = y > 0 ? own - floats : own, *below = y + 1 < a.height ? own + floats : own;
  const float weight = a.neighbor_weight, norm = 1.0f / ((1.0f + 2.0f * weight) * (1.0f + 2.0f * weight));
  float* __restrict column = buffer + 4, * __restrict out = buffer + 8 + floats;
  for (int64_t i = 0; i < floats; ++i) column[i] = norm * fma_(weight, above[i] + below[i], own[i]);
  for (int c = 0; c < 4; ++c) column[c - 4] = column[c], column[floats + c] = column[floats - 4 + c];
  for (int64_t i = 0; i < floats; ++i) out[i] = fma_(weight, column[i - 4] + column[i + 4], column[i]);
  return out;
}

template <class T>
static void tone_map_row(const rt::ToneRows& w, const ToneMapping& d, int row, float* buffer, rt::RowHistogram& t) {
  const rt::ToneArgs& a = *w.args;
  const float* sums = buffer ? smooth_row(w, row, buffer) : w.sums + 4 * (int64_t)row * a.width;
  T* out = (T*)w.out + 4 * (int64_t)row * a.width;
  const UW y((uint32_t)(a.y0 + w.first + row));
  UW x = lane_iota() + UW((uint32_t)a.x0);
  for (int at = 0; at < a.width; at += kWide, x = x + UW(kWide)) {
    int n = a.width - at < kWide ? a.width - at : kWide;
    Pixels<FW> p = load_pixels<FW>(sums + 4 * (int64_t)at, n);
    PixelCodes<FW> c = tone_map_pixel(d, p.r, p.g, p.b, p.a, x, y);
    store_codes(out + 4 * (int64_t)at, c, n);
    const uint32_t inside = (1u << n) - 1u;
    t.clipped += (uint64_t)__builtin_popcount(bits(c.clipped) & inside);
    t.black += (uint64_t)__builtin_popcount(bits(c.black) & inside);
  }
}

void tone_map_rows(const rt::ToneRows& w, rt::RowHistogram& t) {
  ToneMapping d = tone_mapping(*w.args, w.exposure);
  for (int row = 0; row < w.count; ++row)
    if (w.args->bits == 8)
      tone_map_row<uint8_t>(w, d, row, w.buffer, t);
    else
      tone_map_row<uint16_t>(w, d, row, w.buffer, t);
}

template <bool kTraced> static void clean_row(const rt::DraftRows& w, int y) {
  const int64_t plane = draft_plane(w.width, w.height), stride = draft_stride(w.width);
  for (int x = 0; x < w.width; x += kWide) {
    const float* own = w.planes + draft_place(w.width, x, y);
    const auto at = [=](int p, int dx, int dy) -> FW { return load<FW>(own + p * plane + dy * stride + dx); };
    const int n = w.width - x < kWide ? w.width - x : kWide;
    uint32_t found = bits(is_surface(at(kDraftDepth, 0, 0))) & ((1u << n) - 1u);
    if (!found) continue;
    const Vec3<FW> light = draft_ambient<FW, kTraced>(at);
    alignas(64) float r[kWide], g[kWide], b[kWide];
    store(r, light.x), store(g, light.y), store(b, light.z);
    for (; found; found &= found - 1) {
      const int i = __builtin_ctz(found);
      float* sum = w.sums + 4 * ((int64_t)y * w.width + x + i);
      sum[0] += r[i], sum[1] += g[i], sum[2] += b[i];
    }
  }
}

void clean_rows(const rt::DraftRows& w) {
  for (int y = w.first; y < w.first + w.count; ++y)
    traces_row((uint32_t)y) ? clean_row<true>(w, y) : clean_row<false>(w, y);
}

}  // namespace RT_NS
