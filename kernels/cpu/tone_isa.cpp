// Rows of a film, eight pixels at a time. Compiled once per instruction set (RT_ISA_*), each in a namespace of its own.
#include "../film/tone_map.h"
#include "../film/histogram.h"
#include "tone_rows.h"
#include "wide.h"

namespace RT_NS {

static constexpr int kPixels = 8;

struct Pixels {
  F8 r, g, b, a;
};

// `left` pixels or eight; those beyond are without light and coverage
RT_HD Pixels load_pixels(const float* sums, int64_t left) {
  Pixels p;
  alignas(32) float padded[4 * kPixels] = {};
  if (left < kPixels) {
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
      Pixels p = load_pixels(sums + 4 * at, n);
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

RT_HD void store_codes(uint8_t* out, const PixelCodes<F8>& c, int n) {
  alignas(32) uint32_t rgba[8];
  store(rgba, c.r | (c.g << 8) | (c.b << 16) | (c.a << 24));
  memcpy(out, rgba, 4 * (size_t)n);
}

RT_HD void store_codes(uint16_t* out, const PixelCodes<F8>& c, int n) {
  alignas(32) uint32_t rg[8], ba[8], both[16];
  store(rg, c.r | (c.g << 16)), store(ba, c.b | (c.a << 16));
  for (int i = 0; i < 8; ++i) both[2 * i] = rg[i], both[2 * i + 1] = ba[i];
  memcpy(out, both, 8 * (size_t)n);
}

template <class T> static void tone_map_row(const rt::ToneRows& w, const ToneMapping& d, int row, rt::RowHistogram& t) {
  const rt::ToneArgs& a = *w.args;
  const float* sums = w.sums + 4 * (int64_t)row * a.width;
  T* out = (T*)w.out + 4 * (int64_t)row * a.width;
  const U8 y((uint32_t)(a.y0 + w.first + row));
  alignas(32) uint32_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  U8 x = load<U8>(lane) + U8((uint32_t)a.x0);
  for (int at = 0; at < a.width; at += kPixels, x = x + U8(kPixels)) {
    int n = a.width - at < kPixels ? a.width - at : kPixels;
    Pixels p = load_pixels(sums + 4 * (int64_t)at, n);
    PixelCodes<F8> c = tone_map_pixel(d, p.r, p.g, p.b, p.a, x, y);
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
      tone_map_row<uint8_t>(w, d, row, t);
    else
      tone_map_row<uint16_t>(w, d, row, t);
}

}  // namespace RT_NS
