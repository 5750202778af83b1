// One split of a range of spheres by the binned surface area heuristic.
#pragma once
#include "bounds.h"

namespace rt {

constexpr int kBins = 16;

// spheres [begin, end); `geometry` bounds the spheres, `centers` their centres
struct Range {
  int64_t begin = 0, end = 0;
  Box geometry, centers;
  bool in_scratch = false;  // which of the two arrays holds it
  bool equal = false;       // all equal, and more than a leaf holds: only the first is visible
  int64_t count() const { return end - begin; }
};

struct Binner {
  V4 origin, scale;  // centre -> bin, per axis
  int bins;
  Binner(const Box& centers, int64_t count);
  void index(V4 s, int32_t* out) const { truncate4((s - origin) * scale, out); }
};

struct BinSet {
  Box box[3][kBins];
  uint32_t count[3][kBins];
  void clear(int bins);
  template <int kFloats> void add(const Binner& binner, const Record<kFloats>* records, int64_t n);
  void merge(const BinSet& other, int bins);
};

// The splitting plane: spheres whose bin along `axis` is below `bin` go left. axis < 0: no plane separates
// the centres, and the range is halved by position.
struct Split {
  int axis = -1, bin = 0;
  Box left_box, right_box;
};

Split best_split(const BinSet& bins, int count);

}  // namespace rt
