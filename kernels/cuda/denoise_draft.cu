// title: ambient light of a draft, filtered
// idea: a thread has its pixel; planes, so that a warp reads whole lines, and its rows need no shared memory
// block: 32x8
// grid: ceil(width / 32), ceil(height / 8)
// flags: --fmad=false
// source: Petschnigg et al. 2004; Eisemann, Durand 2004 (joint bilateral filter)
#include "../core/layout.h"
#include "../integrator/draft.h"

RT_LAYOUT_TABLE

extern "C" __global__ void __launch_bounds__(256) denoise_draft(const __grid_constant__ rt::ToneArgs args) {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= args.width || y >= args.height) return;
  const int64_t plane = rt::draft_plane(args.width, args.height), stride = rt::draft_stride(args.width);
  const float* own = (const float*)args.out + rt::draft_place(args.width, x, y);
  const auto at = [=](int p, int dx, int dy) { return __ldg(own + p * plane + dy * stride + dx); };
  if (!rt::is_surface(at(rt::kDraftDepth, 0, 0))) return;
  const rt::Vec3<float> light =
      rt::traces_row((uint32_t)y) ? rt::draft_ambient<float, true>(at) : rt::draft_ambient<float, false>(at);
  float4* film = (float4*)args.film + (size_t)y * args.width + x;
  const float4 sum = *film;
  *film = make_float4(sum.x + light.x, sum.y + light.y, sum.z + light.z, sum.w);
}
