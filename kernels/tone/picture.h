// The picture on CUDA: a block develops a rectangle of the film and counts its clipped and black pixels.
#pragma once
#include "develop.h"

namespace rt {

RT_DEVICE void store_codes(unsigned* out, const PixelCodes<float>& c) { *out = c.r | c.g << 8 | c.b << 16 | c.a << 24; }
RT_DEVICE void store_codes(uint2* out, const PixelCodes<float>& c) { *out = make_uint2(c.r | c.g << 16, c.b | c.a << 16); }

// Adds up over the block, one atomic for each count that is not zero; the counts of a thread are small.
RT_DEVICE void add_counts(Tally& tally, unsigned clipped, unsigned black) {
  __shared__ unsigned both;
  int thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread == 0) both = 0;
  __syncthreads();
  unsigned sum = __reduce_add_sync(~0u, clipped | black << 16);
  if (thread % 32 == 0 && sum != 0) atomicAdd(&both, sum);
  __syncthreads();
  if (thread == 0 && (both & 0xffffu)) atomicAdd(&tally.clipped, both & 0xffffu);
  if (thread == 0 && both >> 16) atomicAdd(&tally.black, both >> 16);
}

// Code: what holds the four codes of a pixel. kRows pixels a thread, their loads under way together.
template <class Code, int kRows> RT_DEVICE void develop_block(const ToneArgs& args) {
  const float4* film = (const float4*)args.film;
  Code* out = (Code*)args.out;
  const Tally* tally = (const Tally*)args.tally;
  const Development d = development(args, args.automatic ? __ldg(&tally->exposure) : args.exposure);
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int bottom = args.height - 1 - (int)(blockIdx.y * blockDim.y * kRows + threadIdx.y);
  float4 sums[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    int y = bottom - k * (int)blockDim.y;
    sums[k] = x < args.width && y >= 0 ? __ldcs(film + (size_t)y * args.width + x) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  unsigned clipped = 0, black = 0;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    int y = bottom - k * (int)blockDim.y;
    PixelCodes<float> c = develop_pixel(d, sums[k].x, sums[k].y, sums[k].z, sums[k].w, (uint32_t)(args.x0 + x), (uint32_t)(args.y0 + y));
    if (x < args.width && y >= 0) store_codes(out + (size_t)y * args.width + x, c);
    clipped += c.clipped, black += c.black;
  }
  if (tally) add_counts(*(Tally*)args.tally, clipped, black);
}

}  // namespace rt
