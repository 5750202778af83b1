#include "reach.h"

#include <algorithm>
#include <limits>

#include "../geom/sphere_reach.h"

namespace rt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kChunk = 1 << 15;  // spheres that a thread takes at a time
constexpr int64_t kBlock = 512;      // of them in double precision: they stay in the first cache
constexpr int64_t kLanes = 8;        // maxima of a direction at a time

struct Block {
  double x[kBlock], y[kBlock], z[kBlock], radius[kBlock];  // a sphere that does not count has radius -infinity
};

void load(const ReachQuery& q, int64_t begin, int64_t end, Block& b) {
  const int64_t count = end - begin;
  double* to[4] = {b.x, b.y, b.z, b.radius};
  for (int k = 0; k < 4; ++k) {
    std::copy(q.column[k] + begin, q.column[k] + end, to[k]);
    std::fill(to[k] + count, to[k] + kBlock, k < 3 ? 0.0 : -kInfinity);
  }
  const int64_t* const last = q.skipped + q.skipped_count;
  for (const int64_t* s = std::lower_bound(q.skipped, last, begin); s < last && *s < end; ++s)
    b.radius[*s - begin] = -kInfinity;
}

// Spheres beyond the limit do not count any more.
void leave_out_far(const ReachQuery& q, int64_t begin, Block& b, Reach& r) {
  double distance[kBlock];
  for (int64_t i = 0; i < kBlock; ++i) distance[i] = distance_to(q.center, b.x[i], b.y[i], b.z[i], b.radius[i]);
  for (int64_t i = 0; i < kBlock; ++i) {
    if (b.radius[i] == -kInfinity) continue;
    if (distance[i] > r.distance) r.distance = distance[i], r.farthest = begin + i;
    if (distance[i] > q.limit) ++r.far, b.radius[i] = -kInfinity;
  }
}

double largest(const Block& b, const double* n) {
  double best[kLanes];
  std::fill_n(best, kLanes, -kInfinity);
  for (int64_t i = 0; i < kBlock; i += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) {
      const double d = reach_along(n, b.x[i + k], b.y[i + k], b.z[i + k], b.radius[i + k]);
      best[k] = d > best[k] ? d : best[k];
    }
  return *std::max_element(best, best + kLanes);
}

}  // namespace

Reach reach_of(const ReachQuery& q, ThreadPool& pool) {
  Reach nothing;
  nothing.reached.assign((size_t)q.normal_count, -kInfinity);
  nothing.distance = -kInfinity;
  std::vector<Reach> parts((size_t)((q.count + kChunk - 1) / kChunk), nothing);
  pool.each((int64_t)parts.size(), [&](int64_t c, int) {
    Reach& part = parts[(size_t)c];
    Block block;
    const int64_t stop = std::min(q.count, (c + 1) * kChunk);
    for (int64_t begin = c * kChunk; begin < stop; begin += kBlock) {
      load(q, begin, std::min(stop, begin + kBlock), block);
      if (q.center) leave_out_far(q, begin, block, part);
      for (size_t n = 0; n < part.reached.size(); ++n)
        part.reached[n] = std::max(part.reached[n], largest(block, q.normals + 3 * n));
    }
  });
  Reach all = nothing;
  for (const Reach& part : parts) {
    for (size_t n = 0; n < all.reached.size(); ++n) all.reached[n] = std::max(all.reached[n], part.reached[n]);
    all.far += part.far;
    if (part.distance > all.distance) all.distance = part.distance, all.farthest = part.farthest;
  }
  return all;
}

}  // namespace rt
