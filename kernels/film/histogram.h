// Film statistics: the histogram bin of a pixel's luminance, and the exposure metered from the histogram.
//
// A bin is the exponent and the three leading bits of the luminance: eight bins per stop, linear within a
// stop, computed without a logarithm and identical on all compilers.
#pragma once
#include "../core/structs.h"
#include "../shade/background.h"
#include "curves.h"
#include "srgb.h"

namespace RT_NS {

constexpr int kToneBins = 256;
// Special bins: pixels without coverage; with a channel that is NaN or infinite; darker than other bins.
constexpr uint32_t kBinUncovered = 0, kBinNonFinite = 1, kBinBlack = 2;
constexpr uint32_t kFirstBin = 4, kLastBin = 252;     // from 2^-16; the last one includes all from 2^15
constexpr uint32_t kBinOffset = (127 - 16) * 8 - kFirstBin;
constexpr float kDarkest = 1.52587890625e-5f;         // 2^-16
constexpr float kBrightestBin = 32768.0f;             // 2^15

// Lower edge of a bin; for kLastBin + 1 its upper edge, as for a regular bin.
RT_HD float bin_edge(uint32_t bin) { return as_float((bin + kBinOffset) << 20); }

template <class F>
struct PixelLight {
  UintOf<F> bin;
  F luminance;     // straight alpha; 0 without coverage or if not finite
  MaskOf<F> lit;   // in a regular bin
};

// Sums of a pixel for pixel_light(), without the background, so that the statistics do not depend on it.
// y: row in the full picture
template <class F>
struct FilmPixel {
  F r, g, b, alpha;
};

RT_HD bool measures_all(const rt::ToneArgs& a) { return a.opaque != 0 && a.meter_all != 0; }
RT_HD bool removes_background(const rt::ToneArgs& a) { return a.opaque != 0 && a.meter_all == 0; }

template <class F> RT_HD FilmPixel<F> without_background(const rt::ToneArgs& a, FilmPixel<F> p, UintOf<F> y) {
  F missed = p.alpha - F((float)a.samples);  // minus the number of samples without a hit
  F height = background_height_row<F>(a.picture_height, y);
  Vec3<F> light = fma3(missed, gradient(a.background_bottom, a.background_top, height), Vec3<F>{p.r, p.g, p.b});
  return {light.x, light.y, light.z, p.alpha};
}

// Luminance with straight alpha of sums that may be premultiplied by coverage.
template <class F> RT_HD PixelLight<F> pixel_light(F r, F g, F b, F alpha) {
  using U = UintOf<F>;
  // 0 if all are finite, else NaN
  F zero = fma_(alpha, F(0.0f), fma_(b, F(0.0f), fma_(g, F(0.0f), r * F(0.0f))));
  MaskOf<F> finite = zero == F(0.0f), covered = alpha > F(0.0f);
  // clamped to kMostLight, so that sums stay finite
  F light = min_(max_(luminance(Vec3<F>{r, g, b}), F(0.0f)), F(kMostLight));
  F l = select(covered & finite, min_(quotient(light, limited_coverage(alpha)), F(kMostLight)), F(0.0f));
  MaskOf<F> lit = l >= F(kDarkest);
  U bin = (as_uint(min_(l, F(kBrightestBin))) >> 20) - U(kBinOffset);
  bin = select(lit, bin, select(covered, U(kBinBlack), U(kBinUncovered)));
  return {select(finite, bin, U(kBinNonFinite)), l, lit};
}

// ---- metering

// Middle grey: the target of the metered mean, unless that darkens highlights that are not above white, so
// that a bright subject stays bright and a white background white.
constexpr float kMiddleGrey = 0.18f;
// Highlights above this are darkened to it: the upper edge of the bin of 1, because percentiles have the
// resolution of a bin, and 1 must stay white.
constexpr float kBrightestHighlight = 1.125f;
constexpr float kMostStops = 64.0f;
constexpr int kMeterStep = 4096;  // integer units per stop: sums are exact in any order

struct MeterRange {
  uint64_t first, last;  // ranks of metered pixels from dark to light, half open
  float darkest, brightest;
};

// low, high: percent of the metered pixels
RT_HD MeterRange meter_range(uint64_t pixels, float low, float high, float darkest, float brightest) {
  uint64_t first = (uint64_t)((double)pixels * (double)low / 100.0),
           last = (uint64_t)((double)pixels * (double)high / 100.0);
  if (last <= first) last = first + 1;
  return {first, last, darkest, brightest};
}

// log2 within a bin, clipped to the darkest and the brightest pixel, so that a film of one luminance is
// metered exactly. share: 0 at the lower edge, 1 at the upper one
RT_HD int64_t bin_rank_level(uint32_t bin, double share, const MeterRange& range) {
  if (bin < kFirstBin) return -16 * kMeterStep;
  float low = max_(bin_edge(bin), range.darkest), high = min_(bin_edge(bin + 1), range.brightest);
  if (bin == kLastBin || high < low) high = range.brightest;
  low = min_(low, high);
  float log_low = log2_(low), level = fma_((float)share, log2_(high) - log_low, log_low);
  return (int64_t)floor_(fma_(level, (float)kMeterStep, 0.5f));
}

struct MeterSum {
  int64_t level, pixels;
  int64_t highlights;  // log2 of the luminance at the upper end of the range
};

// Bins first .. first + count; `before`: number of darker metered pixels.
RT_HD MeterSum meter_bins(const uint32_t* bins, int first, int count, uint64_t before, const MeterRange& range) {
  MeterSum sum = {0, 0, 0};
  for (int i = first; i < first + count; ++i) {
    uint64_t begin = before > range.first ? before : range.first, end = before + bins[i];
    before = end;
    if (end >= range.last && end - bins[i] < range.last)
      sum.highlights = bin_rank_level((uint32_t)i, (double)(range.last - (end - bins[i])) / (double)bins[i], range);
    if (end > range.last) end = range.last;
    if (end <= begin) continue;
    sum.level += (int64_t)(end - begin) * bin_rank_level((uint32_t)i, 0.5, range);  // of its geometric middle
    sum.pixels += (int64_t)(end - begin);
  }
  return sum;
}

// Whether a bin is metered. all: black and uncovered pixels too
RT_HD bool is_metered(int bin, bool all) {
  return bin >= (int)kFirstBin || (all && (bin == (int)kBinUncovered || bin == (int)kBinBlack));
}

// Exposure in stops; 0 without metered pixels. The metered mean becomes middle grey, but highlights are
// darkened at most to white.
RT_HD float metered_exposure(MeterSum sum) {
  if (sum.pixels == 0) return 0.0f;
  float to_grey = log2_(kMiddleGrey) - (float)((double)sum.level / (double)sum.pixels / kMeterStep);
  float to_white = log2_(kBrightestHighlight) - (float)((double)sum.highlights / kMeterStep);
  float stops = max_(to_grey, min_(to_white, 0.0f));
  return min_(max_(stops, -kMostStops), kMostStops);
}

}  // namespace RT_NS
