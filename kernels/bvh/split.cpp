#include "split.h"

namespace rt {

Binner::Binner(const Box& centers, int64_t count) : bins(count > 64 ? kBins : 8) {
  V4 extent = centers.extent();
  // just under `bins`, so that the largest centre falls into the last bin after rounding
  float s[3];
  for (int a = 0; a < 3; ++a) s[a] = extent[a] > 1e-30f ? (float)bins * 0.99999f / extent[a] : 0.0f;
  origin = centers.lo();
  scale = v4(s[0], s[1], s[2], 0.0f);
}

void BinSet::clear(int bins) {
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < bins; ++b) box[a][b] = Box(), count[a][b] = 0;
}

void BinSet::add(const Binner& binner, V4 s) {
  int32_t i[4];
  binner.index(s, i);
  V4 r = splat_w(s), neg = r - s, high = s + r;
  for (int a = 0; a < 3; ++a) {
    box[a][i[a]].grow(neg, high);
    ++count[a][i[a]];
  }
}

void BinSet::merge(const BinSet& other, int bins) {
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < bins; ++b) {
      box[a][b].grow(other.box[a][b]);
      count[a][b] += other.count[a][b];
    }
}

static inline float side_cost(const Box& box, int64_t n) { return n ? box.half_area() * (float)n : 0.0f; }

Split best_split(const BinSet& bins, int count) {
  Split best;
  float best_cost = kEmpty;
  for (int a = 0; a < 3; ++a) {
    float right_cost[kBins];
    int64_t n = 0;
    Box box;
    for (int b = count - 1; b > 0; --b) {
      box.grow(bins.box[a][b]);
      n += bins.count[a][b];
      right_cost[b] = n ? side_cost(box, n) : -1.0f;
    }
    n = 0;
    box = Box();
    for (int b = 1; b < count; ++b) {
      box.grow(bins.box[a][b - 1]);
      n += bins.count[a][b - 1];
      if (!n || right_cost[b] < 0.0f) continue;
      float cost = side_cost(box, n) + right_cost[b];
      if (cost < best_cost) best_cost = cost, best.axis = a, best.bin = b, best.left = n;
    }
  }
  if (best.axis < 0) return best;
  for (int b = 0; b < count; ++b) (b < best.bin ? best.left_box : best.right_box).grow(bins.box[best.axis][b]);
  return best;
}

}  // namespace rt
