// How far spheres reach along directions: what a camera that shows all of them needs.
#pragma once
#include <cstdint>
#include <vector>

#include "threads.h"

namespace rt {

struct ReachQuery {
  const float* column[4];  // x, y, z and radius, `count` each
  int64_t count;
  const int64_t* skipped;  // numbers of spheres that do not count, ascending
  int64_t skipped_count;
  const double* normals;  // three numbers each
  int64_t normal_count;
  const double* center;  // null: all spheres count
  double limit;          // spheres count whose nearest point is not farther from the centre
};

struct Reach {
  std::vector<double> reached;  // max(n . c + r) for each normal; -infinity without spheres
  int64_t far = 0;              // how many are beyond the limit
  int64_t farthest = 0;         // the first of the farthest sphere's number, and its distance
  double distance = 0.0;
};

Reach reach_of(const ReachQuery& query, ThreadPool& pool);

}  // namespace rt
