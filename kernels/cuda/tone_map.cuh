// Tone mapping on CUDA: a block converts a rectangle of the film and counts clipped and black pixels.
#pragma once
#include "../film/tone_map.h"
#include "warp_reduce.cuh"

namespace rt {

RT_DEVICE void store_codes(unsigned* out, const PixelCodes<float>& c) { *out = c.r | c.g << 8 | c.b << 16 | c.a << 24; }
RT_DEVICE void store_codes(uint2* out, const PixelCodes<float>& c) {
  *out = make_uint2(c.r | c.g << 16, c.b | c.a << 16);
}

// Sums over the block, then one atomic per count. Atomics to the same two words take a few nanoseconds each,
// so the number of blocks must be small.
RT_DEVICE void add_counts(FilmHistogram& histogram, unsigned clipped, unsigned black) {
  __shared__ unsigned sums[2];
  int thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread < 2) sums[thread] = 0;
  __syncthreads();
  clipped = warp_add(clipped), black = warp_add(black);
  if (thread % 32 == 0) atomicAdd(sums, clipped), atomicAdd(sums + 1, black);
  __syncthreads();
  if (thread == 0) atomicAdd(&histogram.clipped, sums[0]);
  if (thread == 1) atomicAdd(&histogram.black, sums[1]);
}

RT_DEVICE float4 add_neighbors(float4 own, float4 one, float4 other, float weight) {
  return make_float4(fmaf(weight, one.x + other.x, own.x), fmaf(weight, one.y + other.y, own.y),
                     fmaf(weight, one.z + other.z, own.z), fmaf(weight, one.w + other.w, own.w));
}

// The sums of a pixel, with a part of those above and below.
RT_DEVICE float4 smooth_column(const ToneArgs& args, int x, int y) {
  const float4* film = (const float4*)args.film + x;
  const float norm = 1.0f / ((1.0f + 2.0f * args.neighbor_weight) * (1.0f + 2.0f * args.neighbor_weight));
  const float4 v = add_neighbors(__ldg(film + (size_t)y * args.width), __ldg(film + (size_t)max(y - 1, 0) * args.width),
                                 __ldg(film + (size_t)min(y + 1, args.height - 1) * args.width), args.neighbor_weight);
  return make_float4(norm * v.x, norm * v.y, norm * v.z, norm * v.w);
}

// The same of all eight neighbours.
RT_DEVICE float4 smooth_sums(const ToneArgs& args, int x, int y) {
  return add_neighbors(smooth_column(args, x, y), smooth_column(args, max(x - 1, 0), y),
                       smooth_column(args, min(x + 1, args.width - 1), y), args.neighbor_weight);
}

// Rows first, first - step, ... of one column, as far as they are in the film, with concurrent loads.
template <class Code, int kRows, bool kSmooth>
RT_DEVICE void tone_map_rows(const ToneArgs& args, const ToneMapping& d, int x, int first, int step, unsigned& clipped,
                             unsigned& black) {
  float4 sums[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    int y = first - k * step;
    sums[k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (y >= 0)
      sums[k] = kSmooth ? smooth_sums(args, x, y) : __ldcs((const float4*)args.film + (size_t)y * args.width + x);
  }
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    int y = first - k * step;
    PixelCodes<float> c =
        tone_map_pixel(d, sums[k].x, sums[k].y, sums[k].z, sums[k].w, (uint32_t)(args.x0 + x), (uint32_t)(args.y0 + y));
    if (y < 0) continue;
    store_codes((Code*)args.out + (size_t)y * args.width + x, c);
    clipped += c.clipped, black += c.black;
  }
}

// Code: type of the four codes of a pixel. The grid covers the width; its rows iterate from the bottom up.
template <class Code, int kRows, int kCurve, bool kSmooth> RT_DEVICE void tone_map_block(const ToneArgs& args) {
  const FilmHistogram* histogram = (const FilmHistogram*)args.histogram;
  ToneMapping d = tone_mapping(args, args.automatic ? __ldg(&histogram->exposure) : args.exposure);
  d.curve = kCurve;  // compile-time constant
  const int x = blockIdx.x * blockDim.x + threadIdx.x, rows = blockDim.y;
  unsigned clipped = 0, black = 0;
  if (x < args.width)
    for (int y = args.height - 1 - (int)(blockIdx.y * rows * kRows + threadIdx.y); y >= 0;
         y -= gridDim.y * rows * kRows)
      tone_map_rows<Code, kRows, kSmooth>(args, d, x, y, rows, clipped, black);
  if (histogram) add_counts(*(FilmHistogram*)args.histogram, clipped, black);
}

template <class Code, int kRows, bool kSmooth> RT_DEVICE void tone_map_any_curve(const ToneArgs& args) {
  switch (args.curve) {
    case kCurveReinhard:
      return tone_map_block<Code, kRows, kCurveReinhard, kSmooth>(args);
    case kCurveAces:
      return tone_map_block<Code, kRows, kCurveAces, kSmooth>(args);
    case kCurveAgx:
      return tone_map_block<Code, kRows, kCurveAgx, kSmooth>(args);
    default:
      return tone_map_block<Code, kRows, kCurveLinear, kSmooth>(args);
  }
}

}  // namespace rt
