// title: histogram of a film, exposure by the last block
// idea: the histogram of the bench with pixels as keys: 32 interleaved copies of the bins, loads one
//       iteration ahead. The last block to finish meters the exposure, so that no second kernel reads the bins
// block: 512
// grid: max(1, min(3 * sm, ceil(n / 1024)))
// flags: --fmad=false
// source: threadFenceReduction (CUDA samples) for the last block
#include "block_histogram.cuh"
#include "film_histogram.cuh"

RT_LAYOUT_TABLE

namespace rt {

template <Subject subject> RT_DEVICE void film_histogram_block(const ToneArgs& args, unsigned* shared) {
  FilmKeys<subject> keys(args);
  histogram_block<32, 512, 2>(keys, shared, ((HistogramScratch*)args.scratch)->bins);
  __syncthreads();
  finish_histogram(args, {keys.light, keys.logs, keys.darkest, keys.brightest}, shared);
}

}  // namespace rt

extern "C" __global__ void __launch_bounds__(512, 3) film_histogram(const __grid_constant__ rt::ToneArgs args) {
  __shared__ __align__(16) unsigned shared[rt::kBins * 32];
  if (rt::removes_background(args))
    rt::film_histogram_block<rt::Subject::kForeground>(args, shared);
  else if (rt::measures_all(args))
    rt::film_histogram_block<rt::Subject::kPicture>(args, shared);
  else
    rt::film_histogram_block<rt::Subject::kFilm>(args, shared);
}
