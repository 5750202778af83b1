// The film as keys of the histogram: a pixel a word, its bin the key. What bins cannot say is summed beside.
#pragma once
#include "../histogram/keys.h"
#include "measure.h"

namespace rt {

struct FilmKeys {
  using Word = float4;
  static constexpr int kPerWord = 1;
  const float4* sums;
  long long words;
  int loose = 0;
  // of this thread's pixels
  mutable float light = 0.0f, logs = 0.0f, darkest = kInfinity, brightest = 0.0f;

  RT_DEVICE FilmKeys(const float4* film, long long pixels) : sums(film), words(pixels) {}
  RT_DEVICE Word load(long long i) const { return __ldg(sums + i); }
  RT_DEVICE unsigned key(const Word& word, int) const {
    PixelLight<float> p = pixel_light(word.x, word.y, word.z, word.w);
    light += p.luminance;
    logs += select(p.lit, fast_log2(p.luminance), 0.0f);
    darkest = min_(darkest, select(p.lit, p.luminance, kInfinity));
    brightest = max_(brightest, select(p.lit, p.luminance, 0.0f));
    return p.bin;
  }
  RT_DEVICE unsigned loose_key(int) const { return kBinUncovered; }
};

}  // namespace rt
