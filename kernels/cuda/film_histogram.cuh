// The end of the statistics pass on CUDA: the results of all blocks are added, and the last block to finish
// stores a FilmHistogram, exposure included, so that no further kernel is needed.
#pragma once
#include "../core/layout.h"
#include "film_keys.cuh"

namespace rt {

constexpr int kMostBlocks = 4096;

// Between blocks; zero before the first launch, and left so by each.
struct HistogramScratch {
  unsigned bins[kToneBins];
  unsigned arrived, pad[3];
  float4 part[kMostBlocks];  // light, logs, darkest, brightest of each block
};
static_assert(sizeof(HistogramScratch) <= kHistogramScratchBytes, "Python allocates so much");

struct LightSums {
  double light, logs;
  float darkest, brightest;
};

RT_DEVICE LightSums add(LightSums a, LightSums b) {
  return {a.light + b.light, a.logs + b.logs, min_(a.darkest, b.darkest), max_(a.brightest, b.brightest)};
}

RT_DEVICE LightSums warp_sum(LightSums s) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    s = add(s, {__shfl_xor_sync(~0u, s.light, step), __shfl_xor_sync(~0u, s.logs, step),
                __shfl_xor_sync(~0u, s.darkest, step), __shfl_xor_sync(~0u, s.brightest, step)});
  return s;
}

// In a fixed order, so that it is the same every time. All threads of a block of whole warps; the first
// warp has the sum.
RT_DEVICE LightSums block_sum(LightSums own, LightSums* of_warp) {
  own = warp_sum(own);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();
  if (lane == 0) of_warp[warp] = own;
  __syncthreads();
  LightSums none = {0.0, 0.0, kInfinity, 0.0f};
  return warp == 0 ? warp_sum(lane < (int)blockDim.x / 32 ? of_warp[lane] : none) : none;
}

template <class T> RT_DEVICE T warp_total(T v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

// The exposure from metered bins in shared memory, by one warp: a lane takes eight bins.
RT_DEVICE float warp_meter(const unsigned* bins, const ToneArgs& args, float darkest, float brightest) {
  constexpr int kEach = kToneBins / 32;
  int lane = threadIdx.x % 32, first = lane * kEach;
  unsigned long long own = 0;
  for (int i = 0; i < kEach; ++i) own += bins[first + i];
  unsigned long long before = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    unsigned long long lower = __shfl_up_sync(~0u, before, step);
    if (lane >= step) before += lower;
  }
  unsigned long long pixels = __shfl_sync(~0u, before, 31);
  MeterRange range = meter_range(pixels, args.meter_low, args.meter_high, darkest, brightest);
  MeterSum sum = meter_bins(bins, first, kEach, before - own, range);
  return metered_exposure({(int64_t)warp_total((long long)sum.level), (int64_t)warp_total((long long)sum.pixels),
                           (int64_t)warp_total((long long)sum.highlights)});
}

// True in the block that comes last, which then sees what all blocks wrote.
RT_DEVICE bool is_last_block(unsigned* arrived) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

// `shared`: at least kToneBins words and 32 LightSums that no thread uses any more
// Not inlined: its registers would be taken from the loop over pixels.
static __device__ __noinline__ void finish_histogram(const ToneArgs& args, LightSums own, unsigned* shared) {
  HistogramScratch& scratch = *(HistogramScratch*)args.scratch;
  FilmHistogram& histogram = *(FilmHistogram*)args.histogram;
  LightSums* of_warp = (LightSums*)(shared + kToneBins);
  LightSums sum = block_sum(own, of_warp);
  if (threadIdx.x == 0)
    scratch.part[blockIdx.x] = make_float4((float)sum.light, (float)sum.logs, sum.darkest, sum.brightest);
  if (!is_last_block(&scratch.arrived)) return;
  LightSums total = {0.0, 0.0, kInfinity, 0.0f};
  for (int i = threadIdx.x; i < (int)gridDim.x; i += blockDim.x) {
    float4 part = __ldcg(scratch.part + i);
    total = add(total, {part.x, part.y, part.z, part.w});
  }
  if (threadIdx.x < kToneBins) {
    unsigned count = __ldcg(scratch.bins + threadIdx.x);
    scratch.bins[threadIdx.x] = 0;
    histogram.bins[threadIdx.x] = count;
    shared[threadIdx.x] = is_metered((int)threadIdx.x, args.meter_all != 0) ? count : 0;
  }
  total = block_sum(total, of_warp);  // its barriers publish the bins too
  if (threadIdx.x >= 32) return;
  float exposure = warp_meter(shared, args, total.darkest, total.brightest);
  if (threadIdx.x == 0) {
    histogram.luminance_sum = total.light, histogram.log2_sum = total.logs;
    histogram.darkest = total.darkest, histogram.brightest = total.brightest;
    histogram.exposure = exposure;
    histogram.clipped = histogram.black = 0;
    scratch.arrived = 0;
  }
}

}  // namespace rt
