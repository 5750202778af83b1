#include "tone.h"

#include <algorithm>
#include <vector>

#include "../film/statistics.h"
#include "launch.h"
#include "threads.h"

namespace rt {
namespace {

// pixels that are added up together: few enough for float32 sums, many enough to be worth handing out
constexpr int64_t kRun = 1 << 14;

RowStatistics empty() {
  RowStatistics t = {};
  t.darkest = kInfinity;
  return t;
}

int32_t rows_of_run(const ToneArgs& args) { return (int32_t)std::max<int64_t>(kRun / args.width, 1); }

int useful_threads(int64_t items, int threads) {
  return (int)std::min<int64_t>(std::max(threads, 1), std::max<int64_t>(items, 1));
}

}  // namespace

void measure_film(const float* sums, const ToneArgs& args, FilmStatistics& statistics, int threads, Cancel* cancel) {
  const int32_t rows = rows_of_run(args);
  const int64_t runs = (args.height + rows - 1) / rows;
  const auto measure = current_isa().measure;
  struct RunSums {
    double luminance, log2;
  };
  std::vector<RunSums> sum((size_t)runs);
  std::vector<RowStatistics> of_thread((size_t)std::max(threads, 1), empty());
  ThreadPool(useful_threads(runs, threads), cancel).each(runs, [&](int64_t i, int thread) {
    RowStatistics& t = of_thread[(size_t)thread];
    t.luminance = t.log2 = 0.0;
    const int32_t first = (int32_t)i * rows;
    measure({sums + 4 * (int64_t)first * args.width, nullptr, &args, 0.0f, first, std::min(rows, args.height - first)},
            t);
    sum[(size_t)i] = {t.luminance, t.log2};
  });
  statistics = FilmStatistics{};
  statistics.darkest = kInfinity;
  for (const RunSums& s : sum) statistics.luminance_sum += s.luminance, statistics.log2_sum += s.log2;
  for (const RowStatistics& t : of_thread) {
    for (int b = 0; b < kToneBins; ++b) statistics.bins[b] += (uint32_t)t.bins[b];
    statistics.darkest = std::min(statistics.darkest, t.darkest),
    statistics.brightest = std::max(statistics.brightest, t.brightest);
  }
  statistics.exposure = metered_exposure_of(args, statistics);
}

float metered_exposure_of(const ToneArgs& args, const FilmStatistics& statistics) {
  uint32_t bins[kToneBins];
  uint64_t pixels = 0;
  for (int b = 0; b < kToneBins; ++b) {
    bins[b] = is_metered(b, args.meter_all != 0) ? statistics.bins[b] : 0;
    pixels += bins[b];
  }
  MeterRange range = meter_range(pixels, args.meter_low, args.meter_high, statistics.darkest, statistics.brightest);
  return metered_exposure(meter_bins(bins, 0, kToneBins, 0, range));
}

void tone_map_film(const float* sums, const ToneArgs& args, FilmStatistics& statistics, void* out, int threads,
                   Cancel* cancel) {
  const int32_t rows = rows_of_run(args);
  const int64_t runs = (args.height + rows - 1) / rows;
  const int64_t row_bytes = 4 * (int64_t)args.width * (args.bits / 8);
  const auto tone_map = current_isa().tone_map;
  const float exposure = args.automatic ? statistics.exposure : args.exposure;
  std::vector<RowStatistics> of_thread((size_t)std::max(threads, 1), empty());
  ThreadPool(useful_threads(runs, threads), cancel).each(runs, [&](int64_t i, int thread) {
    const int32_t first = (int32_t)i * rows;
    tone_map({sums + 4 * (int64_t)first * args.width, (char*)out + first * row_bytes, &args, exposure, first,
              std::min(rows, args.height - first)},
             of_thread[(size_t)thread]);
  });
  statistics.clipped = statistics.black = 0;
  for (const RowStatistics& t : of_thread)
    statistics.clipped += (uint32_t)t.clipped, statistics.black += (uint32_t)t.black;
}

}  // namespace rt
