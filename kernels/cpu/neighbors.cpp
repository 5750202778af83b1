#include "neighbors.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "threads.h"

namespace rt {
namespace {

constexpr int64_t kChunk = 1 << 14;  // points of a unit of work; fixed, so that the order of pairs is too
constexpr int kMaxCells = 1 << 10;  // along an edge
constexpr int kFarthestCell = 16;    // cells to either side that are searched, at most

// Points in the coordinates of the box: along an edge from 0 to 1 where it repeats itself.
struct Grid {
  const NeighborSearch& s;
  double inverse[9], low[3], step[3];  // cells along an edge: (place - low) * step
  int cells[3], reach[3];              // reach: cells to either side within which pairs are
  std::vector<int32_t> first;  // points by cell
  // A point in the order of cells, which is what a search reads.
  struct Point {
    double at[3];  // moved into the box
    int32_t number, kind;
  };
  std::vector<Point> sorted;
  std::vector<int32_t> place;  // (count, 3): the cell, by number
  std::vector<int32_t> wraps;  // (count, 3): boxes by which a point was moved, by number

  explicit Grid(const NeighborSearch& search) : s(search) {
    const double* e = s.box + 3;
    const double determinant =
        e[0] * (e[4] * e[8] - e[5] * e[7]) - e[1] * (e[3] * e[8] - e[5] * e[6]) + e[2] * (e[3] * e[7] - e[4] * e[6]);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
        inverse[3 * i + j] = (e[3 * a + c] * e[3 * b + d] - e[3 * a + d] * e[3 * b + c]) / determinant;
      }
    double longest = 0.0;
    for (int64_t k = 0; k < s.kind_count * s.kind_count; ++k) longest = std::max(longest, s.reaches[k]);
    const int most = std::clamp((int)std::cbrt((double)s.count) + 1, 1, kMaxCells);
    for (int k = 0; k < 3; ++k) {
      double lowest = 0.0, highest = 1.0;
      if (!s.periodic[k]) {
        lowest = INFINITY, highest = -INFINITY;
        for (int64_t i = 0; i < s.count; ++i) {
          const double f = along(i, k);
          lowest = std::min(lowest, f), highest = std::max(highest, f);
        }
      }
      const double slope = std::hypot(inverse[k], inverse[3 + k], inverse[6 + k]);  // one by the distance of planes
      const double width = std::max(highest - lowest, 1e-300) / slope;
      cells[k] = std::clamp((int)std::min(width / std::max(longest, 1e-300), (double)most), 1, most);
      const double asked = std::ceil(longest * (double)cells[k] / width);
      reach[k] = asked > kFarthestCell ? kFarthestCell + 1 : (int)asked;
      if (!s.periodic[k]) reach[k] = std::min(reach[k], cells[k] - 1);
      low[k] = lowest, step[k] = (double)cells[k] / std::max(highest - lowest, 1e-300);
    }
    sort();
  }

  double along(int64_t i, int k) const {
    const double* p = s.points + 3 * i;
    return (p[0] - s.box[0]) * inverse[k] + (p[1] - s.box[1]) * inverse[3 + k] + (p[2] - s.box[2]) * inverse[6 + k];
  }

  int64_t cell(const int32_t* at) const { return ((int64_t)at[0] * cells[1] + at[1]) * cells[2] + at[2]; }

  void sort() {
    place.resize((size_t)(3 * s.count)), wraps.assign((size_t)(3 * s.count), 0);
    first.assign((size_t)((int64_t)cells[0] * cells[1] * cells[2] + 1), 0);
    sorted.resize((size_t)s.count);
    ThreadPool(s.threads, s.cancel).each((s.count + kChunk - 1) / kChunk, [&](int64_t c, int) {
      for (int64_t i = c * kChunk; i < std::min(s.count, (c + 1) * kChunk); ++i)
        for (int k = 0; k < 3; ++k) {
          double f = along(i, k);
          if (s.periodic[k]) {
            const double boxes = std::floor(f);
            wraps[(size_t)(3 * i + k)] = (int32_t)std::clamp(boxes, -1e9, 1e9), f -= boxes;
          }
          place[(size_t)(3 * i + k)] = std::clamp((int)((f - low[k]) * step[k]), 0, cells[k] - 1);
        }
    });
    for (int64_t i = 0; i < s.count; ++i) ++first[(size_t)cell(&place[(size_t)(3 * i)]) + 1];
    for (size_t c = 1; c < first.size(); ++c) first[c] += first[c - 1];
    std::vector<int32_t> next(first.begin(), first.end() - 1);
    const double* e = s.box + 3;
    for (int64_t i = 0; i < s.count; ++i) {
      Point& p = sorted[(size_t)next[(size_t)cell(&place[(size_t)(3 * i)])]++];
      const int32_t* w = &wraps[(size_t)(3 * i)];
      for (int k = 0; k < 3; ++k) p.at[k] = s.points[3 * i + k] - (w[0] * e[k] + w[1] * e[3 + k] + w[2] * e[6 + k]);
      p.number = (int32_t)i, p.kind = s.kinds[i];
    }
  }

  // The pairs of the n-th point with those after it in the order of cells.
  void pairs_of(int32_t n, std::vector<Pair>& out) const {
    const int32_t* own = &place[(size_t)(3 * (int64_t)sorted[(size_t)n].number)];
    for (int x = -reach[0]; x <= reach[0]; ++x)
      for (int y = -reach[1]; y <= reach[1]; ++y)
        for (int z = -reach[2]; z <= reach[2]; ++z) {
          const int offset[3] = {x, y, z};
          int32_t at[3], boxes[3];
          bool there = true;
          for (int k = 0; k < 3; ++k) {
            const int wanted = own[k] + offset[k];
            boxes[k] = (wanted < 0 ? wanted - cells[k] + 1 : wanted) / cells[k];
            at[k] = wanted - boxes[k] * cells[k];
            there = there && (boxes[k] == 0 || s.periodic[k]);
          }
          if (there) pairs_in(n, cell(at), boxes, out);
        }
  }

  void pairs_in(int32_t n, int64_t cell, const int32_t* boxes, std::vector<Pair>& out) const {
    const Point& p = sorted[(size_t)n];
    const double *reaches = s.reaches + s.kind_count * p.kind, *e = s.box + 3;
    double from[3];
    for (int k = 0; k < 3; ++k) from[k] = p.at[k] - (boxes[0] * e[k] + boxes[1] * e[3 + k] + boxes[2] * e[6 + k]);
    // a point and its own image are one pair: of both shifts that which is above 0
    const int sign = boxes[0] ? boxes[0] : boxes[1] ? boxes[1] : boxes[2];
    const int32_t begin = std::max(first[(size_t)cell], sign > 0 ? n : n + 1);
    for (int32_t m = begin; m < first[(size_t)cell + 1]; ++m) {
      const Point& q = sorted[(size_t)m];
      const double dx = q.at[0] - from[0], dy = q.at[1] - from[1], dz = q.at[2] - from[2];
      const double distance2 = dx * dx + dy * dy + dz * dz, longest = reaches[q.kind];
      if (distance2 > 0.0 && distance2 <= longest * longest) out.push_back(pair(p.number, q.number, boxes));
    }
  }

  Pair pair(int32_t i, int32_t j, const int32_t* boxes) const {
    const int32_t *wi = &wraps[(size_t)(3 * (int64_t)i)], *wj = &wraps[(size_t)(3 * (int64_t)j)];
    Pair found = {std::min(i, j), std::max(i, j), {}};
    for (int k = 0; k < 3; ++k) {
      const int32_t shift = boxes[k] + wi[k] - wj[k];
      found.shift[k] = j < i ? -shift : shift;
    }
    return found;
  }
};

}  // namespace

std::vector<Pair> close_pairs(const NeighborSearch& search, bool& too_many) {
  too_many = false;
  if (search.count == 0) return {};
  const Grid grid(search);
  if (std::max({grid.reach[0], grid.reach[1], grid.reach[2]}) > kFarthestCell)
    return too_many = true, std::vector<Pair>();
  const int64_t chunks = (search.count + kChunk - 1) / kChunk;
  std::vector<std::vector<Pair>> found((size_t)chunks);
  std::atomic<bool> overflow{false};
  ThreadPool(search.threads, search.cancel).each(chunks, [&](int64_t c, int) {
    std::vector<Pair>& out = found[(size_t)c];
    const int64_t begin = c * kChunk, end = std::min(search.count, begin + kChunk);
    for (int64_t i = begin; i < end && !overflow; ++i) {
      grid.pairs_of((int32_t)i, out);
      if ((int64_t)out.size() > kMaxPairs * kChunk) overflow = true;
    }
  });
  if ((too_many = overflow)) return {};
  std::vector<Pair> all;
  size_t total = 0;
  for (const auto& part : found) total += part.size();
  all.reserve(total);
  for (auto& part : found) {
    all.insert(all.end(), part.begin(), part.end());
    std::vector<Pair>().swap(part);
  }
  return all;
}

}  // namespace rt
