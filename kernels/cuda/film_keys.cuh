// The film as keys of the histogram: a word is a pixel, its key the bin. Sums and extremes are updated too.
#pragma once
#include "../film/histogram.h"

namespace rt {

// The measured part of a pixel: the film as it is, the opaque picture, or hits without the background. A
// compile-time constant, so that films without a background have no code for it.
enum class Subject { kFilm, kPicture, kForeground };

template <Subject subject>
struct FilmKeys {
  using Word = float4;
  static constexpr int kPerWord = 1;
  const ToneArgs& args;
  const float4* sums;
  long long words;
  int loose = 0;
  // of the pixels of this thread
  mutable float light = 0.0f, logs = 0.0f, darkest = kInfinity, brightest = 0.0f;

  RT_DEVICE explicit FilmKeys(const ToneArgs& a)
      : args(a), sums((const float4*)a.film), words((long long)a.width * a.height) {}
  RT_DEVICE Word load(long long at) const { return __ldg(sums + at); }
  // at: index of the pixel in the film
  RT_DEVICE FilmPixel<float> measured(const Word& s, long long at) const {
    FilmPixel<float> p = {s.x, s.y, s.z, s.w};
    if constexpr (subject == Subject::kPicture) p.alpha = (float)args.samples;
    // only edges of spheres need the row, at the cost of a division
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
