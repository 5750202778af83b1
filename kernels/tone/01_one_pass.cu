// title: exposure, curve, sRGB, dither and code values in one pass
// idea: a thread takes four pixels of a column, from the bottom of the film up: the histogram pass read it
//       downwards, so that its last rows are still in the L2 cache
// block: 32x8
// grid: ceil(width / 32), ceil(height / 32)
// needs: sm_80+
// source: own
#include "../core/layout.h"
#include "../tone/picture.h"

extern "C" __device__ const int layout_table[] = RT_LAYOUT_TABLE;

extern "C" __global__ void __launch_bounds__(256, 6) tone(const __grid_constant__ rt::ToneArgs args) {
  if (args.bits == 8)
    rt::develop_block<unsigned, 4>(args);
  else
    rt::develop_block<uint2, 4>(args);
}
