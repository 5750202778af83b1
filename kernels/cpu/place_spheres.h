// Spheres of users' arrays to columns or records in render space, on several threads.
#pragma once
#include <cstdint>

#include "threads.h"

namespace rt {

// Numbers of an array, float32 or float64, as they lie in the memory of whoever made it.
struct Numbers {
  const void* data = nullptr;  // null: what there is stays
  bool is_double = false;
  int64_t row = 0, column = 0;  // strides in numbers; a row of 0 is one for all
};

// Where spheres first .. first + count - 1 of a scene are and how large: linear p + offset in render space, in double
// precision with terms in this order, and scale times radius; both rounded once.
struct SphereMotion {
  int64_t first, count;
  Numbers positions, radii;
  double linear[3][3], offset[3], scale;
};

// Where spheres are written: x, y, z and radius of the first, and the distance to those of the next in floats.
struct SphereColumns {
  float* column[4];
  int64_t step;
};

// Returns the number among `count` of the first sphere that is not finite, or longer or shorter than float32 takes in
// render space; or -1. What is not given is neither written nor checked.
int64_t place_spheres(const SphereMotion& motion, const SphereColumns& out, ThreadPool& pool);

}  // namespace rt
