// Tone mapping of a film pixel to code values: exposure, curve, sRGB, dither. F is the number type: float in
// a GPU thread, lanes on a CPU.
#pragma once
#include "../core/structs.h"
#include "curves.h"
#include "dither.h"
#include "srgb.h"

namespace RT_NS {

// Parameters common to all pixels of a film.
struct ToneMapping {
  float scale;        // 2^exposure
  float samples, alpha_scale;  // alpha_scale: 1 / samples
  bool opaque;        // the sums include a background, so that all pixels are covered
  bool counts_all;    // pixels without hits count as clipped or black too
  float white, levels;
  int32_t curve;
  bool dither;
};

RT_HD ToneMapping tone_mapping(const rt::ToneArgs& a, float exposure) {
  return {exp2_(exposure),
          (float)a.samples,
          1.0f / (float)a.samples,
          a.opaque != 0,
          a.opaque != 0 && a.meter_all != 0,
          a.white,
          a.bits == 8 ? 255.0f : 65535.0f,
          a.curve,
          a.dither != 0 && a.bits == 8};
}

template <class F>
struct PixelCodes {
  UintOf<F> r, g, b, a;
  MaskOf<F> clipped;  // covered, and a channel was above 1
  MaskOf<F> black;    // covered, and no channel reaches the first of 255 code values
};

// A channel with exposure: NaN is 0, infinity kBrightest. factor: 2^exposure / coverage
template <class F> RT_HD F exposed(F sum, F factor) {
  return min_(min_(max_(sum, F(0.0f)), F(kMostLight)) * factor, F(kBrightest));
}

// coverage of the picture, summed over samples
template <class F> RT_HD F shown_alpha(const ToneMapping& d, F alpha) { return d.opaque ? F(d.samples) : alpha; }

// alpha: of the film, as in all functions here
template <class F> RT_HD Vec3<F> expose_pixel(const ToneMapping& d, F r, F g, F b, F alpha) {
  alpha = shown_alpha(d, alpha);
  F factor = select(alpha > F(0.0f), quotient(F(d.scale), limited_coverage(alpha)), F(0.0f));
  return {exposed(r, factor), exposed(g, factor), exposed(b, factor)};
}

// light: after the curve. x, y: position in the full picture, which determines the dither
template <class F>
RT_HD PixelCodes<F> encode_pixel(const ToneMapping& d, Vec3<F> light, F alpha, UintOf<F> x, UintOf<F> y) {
  F top = max_(light.x, max_(light.y, light.z));
  F shown = shown_alpha(d, alpha);
  MaskOf<F> covered = (d.counts_all ? shown : alpha) > F(0.0f), clipped = covered & (top > F(1.0f));
  MaskOf<F> black = covered & (top * F(12.92f * 255.0f) < F(0.5f));
  F round = d.dither ? dither_threshold(x, y) : F(0.5f);
  Vec3<F> code = {srgb_encode(light.x), srgb_encode(light.y), srgb_encode(light.z)};
  F coverage = min_(max_(shown * F(d.alpha_scale), F(0.0f)), F(1.0f));
  return {quantize(code.x, d.levels, round),
          quantize(code.y, d.levels, round),
          quantize(code.z, d.levels, round),
          quantize(coverage, d.levels, F(0.5f)),
          clipped,
          black};
}

template <class F>
RT_HD PixelCodes<F> tone_map_pixel(const ToneMapping& d, F r, F g, F b, F alpha, UintOf<F> x, UintOf<F> y) {
  return encode_pixel(d, tone_curve(d.curve, d.white, expose_pixel(d, r, g, b, alpha)), alpha, x, y);
}

}  // namespace RT_NS
