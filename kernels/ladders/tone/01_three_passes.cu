// title: exposure, curve and code values in separate passes
// idea: the reference for the single pass: between stages the picture goes through memory as floats.
//       Launched three times; the first reads `film` and writes `scratch`, the second updates `scratch`
// block: 256
// grid: max(1, min(8 * sm, ceil(n / 256)))
// flags: --fmad=false
// source: own
#include "../../core/layout.h"
#include "../../cuda/tone_map.cuh"

RT_LAYOUT_TABLE

extern "C" __global__ void __launch_bounds__(256) tone(const __grid_constant__ rt::ToneArgs args) {
  const rt::ToneMapping d =
      rt::tone_mapping(args, args.automatic ? ((const rt::FilmHistogram*)args.histogram)->exposure : args.exposure);
  float4* between = (float4*)args.scratch;
  int n = args.width * args.height, stride = (int)(gridDim.x * blockDim.x);
  for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
    float4 p = args.stage == 0 ? ((const float4*)args.film)[i] : between[i];
    if (args.stage == 0) {
      rt::Vec3<float> light = rt::expose_pixel(d, p.x, p.y, p.z, p.w);
      between[i] = make_float4(light.x, light.y, light.z, p.w);
    } else if (args.stage == 1) {
      rt::Vec3<float> light = rt::tone_curve(d.curve, d.white, rt::vec3(p.x, p.y, p.z));
      between[i] = make_float4(light.x, light.y, light.z, p.w);
    } else {
      uint32_t x = (uint32_t)(args.x0 + i % args.width), y = (uint32_t)(args.y0 + i / args.width);
      rt::store_codes((unsigned*)args.out + i, rt::encode_pixel(d, rt::vec3(p.x, p.y, p.z), p.w, x, y));
    }
  }
}
