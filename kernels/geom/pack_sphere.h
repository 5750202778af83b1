// Spheres of other libraries' arrays to records in render space, with the bytes of the host
// (cpu/place_spheres.cpp): in float64, term by term, rounded once.
#pragma once
#include "../core/float_key.h"
#include "../core/strided_array.h"

namespace RT_NS {

// Lengths in render space are between this and its inverse: squares are still float32.
constexpr float kLargestLength = 0x1p60f;

RT_HD bool is_finite(double x) { return x - x == 0.0; }

// One coordinate of linear * p + offset. Coefficients of zero are skipped, as on the host: they would turn -0 into 0.
RT_HD double affine(const double* row, const double* p, double offset) {
  double total = 0.0;
  bool has_terms = false;
  for (int k = 0; k < 3; ++k) {
    if (row[k] == 0.0) continue;
    const double term = p[k] * row[k];
    total = has_terms ? total + term : term;
    has_terms = true;
  }
  return has_terms ? total + offset : offset;
}

struct PackedSphere {
  float x, y, z, radius;
  int32_t error;  // PackError, or kPackErrorCount where there is none
};

// old: the record as it is, for what has no array
RT_HD PackedSphere pack_sphere(const rt::PackArgs& args, int64_t row, PackedSphere old) {
  PackedSphere made = old;
  made.error = kPackErrorCount;
  if (args.positions.columns) {
    double p[3];
    for (int k = 0; k < 3; ++k) p[k] = load_number(args.positions, row, k);
    if (!(is_finite(p[0]) && is_finite(p[1]) && is_finite(p[2]))) made.error = kErrorCenter;
    made.x = (float)affine(args.linear, p, args.offset[0]);
    made.y = (float)affine(args.linear + 3, p, args.offset[1]);
    made.z = (float)affine(args.linear + 6, p, args.offset[2]);
  }
  if (args.radii.columns) {
    const double radius = load_number(args.radii, row, 0);
    if (!(radius > 0.0 && is_finite(radius)) && made.error == kPackErrorCount) made.error = kErrorRadius;
    made.radius = (float)(radius * args.radius_factor);
  } else if (args.radius > 0.0f) {
    made.radius = args.radius;
  }
  if (made.error == kPackErrorCount) {
    const auto is_inside = [](float length) { return -kLargestLength < length && length < kLargestLength; };
    if (!(is_inside(made.x) && is_inside(made.y) && is_inside(made.z) && made.radius < kLargestLength &&
          made.radius >= 1.0f / kLargestLength))
      made.error = kErrorReach;
  }
  return made;
}

}  // namespace RT_NS
