// Colours of other libraries' arrays to linear RGB, with the bytes of the host's packing (raytracer/scene/colors.py,
// raytracer/scene/coloring/scale.py). Where a power or a logarithm is computed, another library's last bit may round to
// another float, or to another row of a colour map.
#pragma once
#include "../core/strided_array.h"
#include "../core/vec.h"

namespace RT_NS {

// IEC 61966-2-1; v in [0, 1]
RT_HD double srgb_decode(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }

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

// Returns whether the sphere has a colour; otherwise nothing is written.
RT_HD bool pack_color(const rt::PackArgs& args, int64_t row, Vec3<float>& rgb) {
  const float* table = (const float*)args.table;
  float made[3];
  if (args.color_source == kSourceValues) {
    const float* found = table + 3 * (int64_t)map_row(args, load_number(args.colors, row, 0));
    for (int k = 0; k < 3; ++k) made[k] = load_global(found + k);
  } else {
    for (int k = 0; k < 3; ++k) {
      const double v = load_number(args.colors, row, k);
      if (args.color_source == kSourceLevels) {
        made[k] = load_global(table + (int32_t)v);
      } else {
        const bool is_linear = args.color_source == kSourceLinear;
        if (!(v >= 0.0 && (is_linear ? v - v == 0.0 : v <= 1.0))) return false;
        made[k] = (float)(is_linear ? v : srgb_decode(v));
      }
    }
  }
  rgb = {made[0], made[1], made[2]};
  return true;
}

}  // namespace RT_NS
