#include "place_spheres.h"

#include <algorithm>
#include <cmath>

#include "../geom/pack_sphere.h"

namespace rt {
namespace {

constexpr int64_t kChunk = 1 << 14;  // spheres that a thread places at a time

// Both return the first row that does not fit, or `end`.
template <class T>
int64_t place_centers(const SphereMotion& m, int64_t begin, int64_t end, const SphereColumns& out) {
  const double (&l)[3][3] = m.linear, (&offset)[3] = m.offset;
  const bool is_diagonal = l[0][0] != 0.0 && l[1][1] != 0.0 && l[2][2] != 0.0 && l[0][1] == 0.0 && l[0][2] == 0.0 &&
                           l[1][0] == 0.0 && l[1][2] == 0.0 && l[2][0] == 0.0 && l[2][1] == 0.0;
  const int64_t column = m.positions.column;
  const T* from = (const T*)m.positions.data + m.positions.row * begin;
  int64_t bad = end;
  for (int64_t i = begin; i < end; ++i, from += m.positions.row) {
    const double p[3] = {(double)from[0], (double)from[column], (double)from[2 * column]};
    bool fits = true;
    for (int k = 0; k < 3; ++k) {
      const float x = (float)(is_diagonal ? p[k] * l[k][k] + offset[k] : affine(l[k], p, offset[k]));
      out.column[k][out.step * i] = x;
      fits &= std::fabs(x) < kLargestLength;
    }
    if (!fits) bad = std::min(bad, i);
  }
  return bad;
}

template <class T>
int64_t place_radii(const SphereMotion& m, int64_t begin, int64_t end, const SphereColumns& out) {
  const T* r = (const T*)m.radii.data;
  int64_t bad = end;
  for (int64_t i = begin; i < end; ++i) {
    const float v = (float)((double)r[m.radii.row * i] * m.scale);
    out.column[3][out.step * i] = v;
    if (!(v >= 1.0f / kLargestLength && v < kLargestLength)) bad = std::min(bad, i);
  }
  return bad;
}

}  // namespace

int64_t place_spheres(const SphereMotion& m, const SphereColumns& out, ThreadPool& pool) {
  std::vector<int64_t> bad((size_t)((m.count + kChunk - 1) / kChunk), -1);
  pool.each((int64_t)bad.size(), [&](int64_t c, int) {
    const int64_t begin = c * kChunk, end = std::min(m.count, begin + kChunk);
    int64_t first = end;
    if (m.positions.data)
      first = std::min(first, m.positions.is_double ? place_centers<double>(m, begin, end, out)
                                                    : place_centers<float>(m, begin, end, out));
    if (m.radii.data)
      first = std::min(
          first, m.radii.is_double ? place_radii<double>(m, begin, end, out) : place_radii<float>(m, begin, end, out));
    if (first < end) bad[(size_t)c] = first;
  });
  const auto found = std::find_if(bad.begin(), bad.end(), [](int64_t row) { return row >= 0; });
  return found == bad.end() ? -1 : *found;
}

}  // namespace rt
