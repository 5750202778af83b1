// title: arrays of other libraries to records and colours of spheres
// idea: a thread has every n-th sphere; what the host checks later is reduced in registers, then by warp and block, so
//       that a block has a dozen atomics at most
// block: 256
// grid: max(1, min(ceil(n / 256), 8 * sm))
// flags: --fmad=false
// source: own
#include "../core/layout.h"
#include "../geom/pack_sphere.h"
#include "../shade/pack_color.h"
#include "warp_reduce.cuh"

RT_LAYOUT_TABLE

namespace {

constexpr int kInfoWords = sizeof(rt::PackInfo) / 4, kKeys = 8;  // keys of numbers, then rows by PackError

RT_DEVICE void take(uint32_t& least, uint32_t key) { least = key < least ? key : least; }

}  // namespace

// A sphere that cannot be shown keeps its record, one without a colour its colour: the tree stays valid until the host
// reads what is wrong.
extern "C" __global__ void __launch_bounds__(256) pack_spheres(const __grid_constant__ rt::PackArgs args) {
  __shared__ uint32_t of_block[kInfoWords];
  if (threadIdx.x < kInfoWords) of_block[threadIdx.x] = ~0u;
  __syncthreads();
  uint32_t least[kKeys];
#pragma unroll
  for (int k = 0; k < kKeys; ++k) least[k] = ~0u;
  const bool has_spheres = args.positions.columns || args.radii.columns || args.radius > 0.0f;
  const bool is_whole = args.positions.columns && (args.radii.columns || args.radius > 0.0f);
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; row < args.count; row += step) {
    float4* record = (float4*)args.records + row * args.record_words;
    const auto old = [record] {
      const float4 was = *record;
      return rt::PackedSphere{was.x, was.y, was.z, was.w, 0};
    };
    if (has_spheres) {
      rt::PackedSphere made = rt::pack_sphere(args, row, is_whole ? rt::PackedSphere{} : old());
      if (made.error == rt::kPackErrorCount) {
        *record = make_float4(made.x, made.y, made.z, made.radius);
      } else {
        atomicMin(of_block + kKeys + made.error, (uint32_t)row);
        made = old();
      }
      const float numbers[4] = {made.x, made.y, made.z, made.radius};
      for (int k = 0; k < 4; ++k) {
        take(least[k], rt::float_key(numbers[k]));
        take(least[4 + k], ~rt::float_key(numbers[k]));
      }
    }
    if (args.color_source != rt::kSourceNone) {
      rt::Vec3<float> rgb;
      if (rt::pack_color(args, row, rgb)) {
        float* color = (float*)args.color + 3 * row;
        color[0] = rgb.x, color[1] = rgb.y, color[2] = rgb.z;
      } else {
        atomicMin(of_block + kKeys + rt::kErrorColor, (uint32_t)row);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kKeys; ++k) {
    const uint32_t of_warp = rt::warp_least(least[k]);
    if (threadIdx.x % 32 == 0 && of_warp != ~0u) atomicMin(of_block + k, of_warp);
  }
  __syncthreads();
  if (threadIdx.x < kInfoWords) {
    uint32_t* word = (uint32_t*)args.info + threadIdx.x;
    if (of_block[threadIdx.x] < *(volatile uint32_t*)word) atomicMin(word, of_block[threadIdx.x]);
  }
}
