// How far a sphere reaches, in double precision: terms are added in this order on every side, so that a camera that is
// fitted to spheres is the same wherever they lie.
#pragma once
#include "../core/compat.h"

namespace RT_NS {

// along a direction n
RT_HD double reach_along(const double* n, double x, double y, double z, double radius) {
  return x * n[0] + y * n[1] + z * n[2] + radius;
}

// from a point to the nearest point of the sphere; negative inside
RT_HD double distance_to(const double* from, double cx, double cy, double cz, double radius) {
  const double x = cx - from[0], y = cy - from[1], z = cz - from[2];
  return sqrt(x * x + y * y + z * z) - radius;
}

}  // namespace RT_NS
