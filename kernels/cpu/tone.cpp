#include "tone.h"

#include <algorithm>
#include <vector>

#include "../film/histogram.h"
#include "launch.h"
#include "threads.h"

namespace rt {
namespace {

// pixels that are added up together: few enough for float32 sums, many enough to be worth handing out
constexpr int64_t kRun = 1 << 14;

RowHistogram empty() {
  RowHistogram t = {};
  t.darkest = kInfinity;
  return t;
}

int32_t rows_of_run(int32_t width) { return (int32_t)std::max<int64_t>(kRun / width, 1); }

}  // namespace

void measure_film(const float* sums, const ToneArgs& args, FilmHistogram& histogram, int threads, Cancel* cancel) {
  const int32_t rows = rows_of_run(args.width);
  const int64_t runs = (args.height + rows - 1) / rows;
  const auto measure = current_isa().measure;
  struct RunSums {
    double luminance, log2;
  };
  std::vector<RunSums> sum((size_t)runs);
  std::vector<RowHistogram> of_thread((size_t)std::max(threads, 1), empty());
  ThreadPool(useful_threads(runs, threads), cancel).each(runs, [&](int64_t i, int thread) {
    RowHistogram& t = of_thread[(size_t)thread];
    t.luminance = t.log2 = 0.0;
    const int32_t first = (int32_t)i * rows;
    measure({sums + 4 * (int64_t)first * args.width, nullptr, &args, 0.0f, first, std::min(rows, args.height - first),
             nullptr},
            t);
    sum[(size_t)i] = {t.luminance, t.log2};
  });
  histogram = FilmHistogram{};
  histogram.darkest = kInfinity;
  for (const RunSums& s : sum) histogram.luminance_sum += s.luminance, histogram.log2_sum += s.log2;
  for (const RowHistogram& t : of_thread) {
    for (int b = 0; b < kToneBins; ++b) histogram.bins[b] += (uint32_t)t.bins[b];
    histogram.darkest = std::min(histogram.darkest, t.darkest),
    histogram.brightest = std::max(histogram.brightest, t.brightest);
  }
  histogram.exposure = metered_exposure_of(args, histogram);
}

float metered_exposure_of(const ToneArgs& args, const FilmHistogram& histogram) {
  uint32_t bins[kToneBins];
  uint64_t pixels = 0;
  for (int b = 0; b < kToneBins; ++b) {
    bins[b] = is_metered(b, args.meter_all != 0) ? histogram.bins[b] : 0;
    pixels += bins[b];
  }
  MeterRange range = meter_range(pixels, args.meter_low, args.meter_high, histogram.darkest, histogram.brightest);
  return metered_exposure(meter_bins(bins, 0, kToneBins, 0, range));
}

void tone_map_film(const float* sums, const ToneArgs& args, FilmHistogram& histogram, void* out, int threads,
                   Cancel* cancel) {
  const int32_t rows = rows_of_run(args.width);
  const int64_t runs = (args.height + rows - 1) / rows;
  const int64_t row_bytes = 4 * (int64_t)args.width * (args.bits / 8);
  const auto tone_map = current_isa().tone_map;
  const float exposure = args.automatic ? histogram.exposure : args.exposure;
  std::vector<RowHistogram> of_thread((size_t)std::max(threads, 1), empty());
  ThreadPool(useful_threads(runs, threads), cancel).each(runs, [&](int64_t i, int thread) {
    const int32_t first = (int32_t)i * rows;
    std::vector<float> buffer(args.neighbor_weight > 0.0f ? 8 * (size_t)args.width + 16 : 0);
    tone_map({sums + 4 * (int64_t)first * args.width, (char*)out + first * row_bytes, &args, exposure, first,
              std::min(rows, args.height - first), buffer.empty() ? nullptr : buffer.data()},
             of_thread[(size_t)thread]);
  });
  histogram.clipped = histogram.black = 0;
  for (const RowHistogram& t : of_thread)
    histogram.clipped += (uint32_t)t.clipped, histogram.black += (uint32_t)t.black;
}

void denoise_draft(const float* planes, float* sums, int32_t width, int32_t height, int threads, Cancel* cancel) {
  const int32_t rows = 4 * rows_of_run(width);  // a small draft takes less time than the start of a thread
  const int64_t runs = (height + rows - 1) / rows;
  const auto clean = current_isa().clean;
  ThreadPool(useful_threads(runs, threads), cancel).each(runs, [&](int64_t i, int) {
    const int32_t first = (int32_t)i * rows;
    clean({planes, sums, width, height, first, std::min(rows, height - first)});
  });
}

}  // namespace rt
