// Pairs of points that are close to each other, by a grid of cells; in periodic boxes of any shape too.
#pragma once
#include <stdint.h>

#include <vector>

#include "cancel.h"

namespace rt {

struct Pair {
  int32_t a, b;      // numbers of two points, a <= b
  int32_t shift[3];  // b is in that box, along each edge, as a sees it; 0 is the box of both
};

// box: origin, then three edges, 12 numbers; the places of points are not wrapped
struct NeighborSearch {
  const double* points;  // (count, 3)
  int64_t count;
  const int32_t* kinds;   // (count), each in 0..kind_count - 1
  const double* reaches;  // (kind_count, kind_count), symmetric: longest distance of a pair; 0: none
  int64_t kind_count;
  double box[12];
  bool periodic[3];
  int threads;
  Cancel* cancel;
};

// The pairs, in an order that does not depend on the number of threads. Empty, and `too_many`, if there are more than
// kMaxPairs to a point on average.
constexpr int64_t kMaxPairs = 64;
std::vector<Pair> close_pairs(const NeighborSearch& search, bool& too_many);

}  // namespace rt
