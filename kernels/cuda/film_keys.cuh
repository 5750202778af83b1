// The film as keys of the histogram: a pixel a word, its bin the key. What bins cannot say is summed beside.
#pragma once
#include "../film/measure.h"

namespace rt {

// What of a pixel is measured: the film as it is, the opaque picture, or what was hit before its background.
// Known when compiled, so that a film without a background pays nothing for those with one.
enum class Subject { kFilm, kPicture, kForeground };

template <Subject subject>
struct FilmKeys {
  using Word = float4;
  static constexpr int kPerWord = 1;
  const ToneArgs& args;
  const float4* sums;
  long long words;
  int loose = 0;
  // of this thread's pixels
  mutable float light = 0.0f, logs = 0.0f, darkest = kInfinity, brightest = 0.0f;

  RT_DEVICE explicit FilmKeys(const ToneArgs& a)
      : args(a), sums((const float4*)a.film), words((long long)a.width * a.height) {}
  RT_DEVICE Word load(long long at) const { return __ldg(sums + at); }
  // at: number of the pixel in the film
  RT_DEVICE FilmPixel<float> measured(const Word& s, long long at) const {
    FilmPixel<float> p = {s.x, s.y, s.z, s.w};
    if constexpr (subject == Subject::kPicture) p.alpha = (float)args.samples;
    // only edges of spheres need the row, which costs a division
    if constexpr (subject == Subject::kForeground)
      if (s.w > 0.0f && s.w != (float)args.samples)
        p = without_background(args, p, (uint32_t)args.y0 + (unsigned)at / (unsigned)args.width);
    return p;
  }
  RT_DEVICE unsigned key(const Word& word, int, long long at) const {
    FilmPixel<float> s = measured(word, at);
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
