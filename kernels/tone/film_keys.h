// The film as keys of the histogram: a pixel a word, its bin the key. What bins cannot say is summed beside.
#pragma once
#include "../histogram/keys.h"
#include "measure.h"

namespace rt {

struct FilmWord {
  float4 sum;
  unsigned place;  // number of the pixel in the film
};

struct FilmKeys {
  using Word = FilmWord;
  static constexpr int kPerWord = 1;
  const ToneArgs& args;
  const float4* sums;
  long long words;
  int loose = 0;
  // of this thread's pixels
  mutable float light = 0.0f, logs = 0.0f, darkest = kInfinity, brightest = 0.0f;

  RT_DEVICE explicit FilmKeys(const ToneArgs& a)
      : args(a), sums((const float4*)a.film), words((long long)a.width * a.height) {}
  RT_DEVICE Word load(long long i) const { return {__ldg(sums + i), (unsigned)i}; }
  RT_DEVICE FilmPixel<float> subject(const Word& word) const {
    const float4 s = word.sum;
    if (measures_all(args)) return {s.x, s.y, s.z, (float)args.samples};
    FilmPixel<float> p = {s.x, s.y, s.z, s.w};
    // only edges of spheres need the row, which costs a division
    if (!removes_background(args) || s.w <= 0.0f || s.w == (float)args.samples) return p;
    return without_background(args, p, (uint32_t)args.y0 + word.place / (unsigned)args.width);
  }
  RT_DEVICE unsigned key(const Word& word, int) const {
    FilmPixel<float> s = subject(word);
    PixelLight<float> p = pixel_light(s.r, s.g, s.b, s.alpha);
    light += p.luminance;
    logs += select(p.lit, fast_log2(p.luminance), 0.0f);
    darkest = min_(darkest, select(p.lit, p.luminance, kInfinity));
    brightest = max_(brightest, select(p.lit, p.luminance, 0.0f));
    return p.bin;
  }
  RT_DEVICE unsigned loose_key(int) const { return kBinUncovered; }
};

}  // namespace rt
