// title: exposure, curve, sRGB, dither and code values in one pass
// idea: twice as many blocks as run at once, each with two rows of 32 x 8 pixels at a time, from the bottom of
//       the film up, because the last rows read by the statistics pass are still in the L2 cache
// block: 32x8
// grid: ceil(width / 32), max(1, min(ceil(height / 16), 12 * sm // ceil(width / 32)))
// flags: --fmad=false
// source: own
#include "../core/layout.h"
#include "tone_map.cuh"

RT_LAYOUT_TABLE

extern "C" __global__ void __launch_bounds__(256, 6) tone(const __grid_constant__ rt::ToneArgs args) {
  if (args.neighbor_weight > 0.0f)
    rt::tone_map_any_curve<unsigned, 1, true>(args);  // a draft, in 8 bits
  else if (args.bits == 8)
    rt::tone_map_any_curve<unsigned, 2, false>(args);
  else
    rt::tone_map_any_curve<uint2, 2, false>(args);
}
