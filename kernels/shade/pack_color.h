// Colours of other libraries' arrays to linear RGB, with the bytes of the host's packing (raytracer/scene/colors.py,
// raytracer/scene/coloring/scale.py). A logarithm whose last bit differs from NumPy's may take another row of a map.
#pragma once
#include "../core/strided_array.h"
#include "../core/vec.h"

namespace RT_NS {

// IEC 61966-2-1; v in [0, 1]. The power 2.4 of t is that of s = t^2 with 1.2: s^2 r^4, where r = s^(-1/5). Two steps of
// Newton's method take r from float32 (error e) to float64 (3 e^2 a step), in a tenth of the instructions of pow(). Every
// byte and float32 has the bytes of NumPy's power; the error is below 1.4e-15.
RT_HD double srgb_decode(double v) {
  if (v <= 0.04045) return v / 12.92;
  const double t = (v + 0.055) / 1.055, s = t * t;
  double r = 1.0f / pow_((float)t, 0.4f);
  for (int step = 0; step < 2; ++step) {
    const double r2 = r * r;
    r += r * (0.2 * (1.0 - s * (r2 * r2 * r)));
  }
  const double r2 = r * r;
  return s * s * (r2 * r2);
}

// The row of a colour map; table_rows is that of missing values.
RT_HD int32_t map_row(const rt::PackArgs& args, double value) {
  if (args.value_scale == kScaleLog) {
    if (!(value > 0.0)) return args.table_rows;
    value = log(value);
  } else if (args.value_scale == kScaleSymlog) {
    const double size = fabs(value) / args.value_threshold;
    value = size > 1.0 ? copysign(args.value_decade + log10(size), value)
                       : value / args.value_threshold * args.value_decade;
  }
  double place = value * args.value_factor - args.value_low;
  place = args.value_span > 0.0 ? place / args.value_span : place * 0.0;
  if (!(place == place)) return args.table_rows;
  place = (place < 0.0 ? 0.0 : place > 1.0 ? 1.0 : place) * args.table_rows;
  return place < args.table_rows - 1 ? (int32_t)place : args.table_rows - 1;
}

// Returns whether the sphere has a colour; otherwise rgb stays.
RT_HD bool pack_color(const rt::PackArgs& args, int64_t row, Vec3<float>& rgb) {
  if (args.color_source == kSourceValues) {
    const float* found = (const float*)args.table + 3 * (int64_t)map_row(args, load_number(args.colors, row, 0));
    rgb = {load_global(found), load_global(found + 1), load_global(found + 2)};
    return true;
  }
  const bool is_linear = args.color_source == kSourceLinear;
  float made[3];
  for (int k = 0; k < 3; ++k) {
    double v = load_number(args.colors, row, k);
    if (args.colors.kind == kNumberUint8) v /= 255.0;
    if (!(v >= 0.0 && (is_linear ? v - v == 0.0 : v <= 1.0))) return false;
    made[k] = (float)(is_linear ? v : srgb_decode(v));
  }
  rgb = {made[0], made[1], made[2]};
  return true;
}

}  // namespace RT_NS
