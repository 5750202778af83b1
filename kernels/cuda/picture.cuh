// The picture on CUDA: a block develops a rectangle of the film and counts its clipped and black pixels.
#pragma once
#include "../film/develop.h"

namespace rt {

RT_DEVICE void store_codes(unsigned* out, const PixelCodes<float>& c) { *out = c.r | c.g << 8 | c.b << 16 | c.a << 24; }
RT_DEVICE void store_codes(uint2* out, const PixelCodes<float>& c) {
  *out = make_uint2(c.r | c.g << 16, c.b | c.a << 16);
}

// Adds up over the block, then one atomic for each count: all of them want the same two words, a few
// nanoseconds each, so blocks must be few.
RT_DEVICE void add_counts(Tally& tally, unsigned clipped, unsigned black) {
  __shared__ unsigned sums[2];
  int thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread < 2) sums[thread] = 0;
  __syncthreads();
  clipped = __reduce_add_sync(~0u, clipped), black = __reduce_add_sync(~0u, black);
  if (thread % 32 == 0) atomicAdd(sums, clipped), atomicAdd(sums + 1, black);
  __syncthreads();
  if (thread == 0) atomicAdd(&tally.clipped, sums[0]);
  if (thread == 1) atomicAdd(&tally.black, sums[1]);
}

// Rows first, first - step, ... of one column, while they are in the film; their loads are under way together.
template <class Code, int kRows>
RT_DEVICE void develop_rows(const ToneArgs& args, const Development& d, int x, int first, int step, unsigned& clipped,
                            unsigned& black) {
  float4 sums[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    int y = first - k * step;
    sums[k] =
        y >= 0 ? __ldcs((const float4*)args.film + (size_t)y * args.width + x) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    int y = first - k * step;
    PixelCodes<float> c =
        develop_pixel(d, sums[k].x, sums[k].y, sums[k].z, sums[k].w, (uint32_t)(args.x0 + x), (uint32_t)(args.y0 + y));
    if (y < 0) continue;
    store_codes((Code*)args.out + (size_t)y * args.width + x, c);
    clipped += c.clipped, black += c.black;
  }
}

// Code: what holds the four codes of a pixel. The grid covers the width; its rows take turns from the bottom up.
template <class Code, int kRows, int kCurve> RT_DEVICE void develop_block(const ToneArgs& args) {
  const Tally* tally = (const Tally*)args.tally;
  Development d = development(args, args.automatic ? __ldg(&tally->exposure) : args.exposure);
  d.curve = kCurve;  // known when compiled
  const int x = blockIdx.x * blockDim.x + threadIdx.x, rows = blockDim.y;
  unsigned clipped = 0, black = 0;
  if (x < args.width)
    for (int y = args.height - 1 - (int)(blockIdx.y * rows * kRows + threadIdx.y); y >= 0;
         y -= gridDim.y * rows * kRows)
      develop_rows<Code, kRows>(args, d, x, y, rows, clipped, black);
  if (tally) add_counts(*(Tally*)args.tally, clipped, black);
}

template <class Code, int kRows> RT_DEVICE void develop_any(const ToneArgs& args) {
  switch (args.curve) {
    case kCurveReinhard:
      return develop_block<Code, kRows, kCurveReinhard>(args);
    case kCurveAces:
      return develop_block<Code, kRows, kCurveAces>(args);
    case kCurveAgx:
      return develop_block<Code, kRows, kCurveAgx>(args);
    default:
      return develop_block<Code, kRows, kCurveLinear>(args);
  }
}

}  // namespace rt
