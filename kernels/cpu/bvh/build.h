// Construction of the BVH on the host: binned surface area heuristic (Wald 2007), directly into 8-wide
// quantised nodes. Spheres are returned in leaf order. The result does not depend on the number of threads.
#pragma once
#include <memory>
#include <vector>

#include "../../bvh/cost.h"
#include "../../core/structs.h"
#include "../../geom/primitive.h"
#include "../cancel.h"

namespace rt {

// The numbers of a primitive: those of a sphere or those of a capsule.
template <int kFloats>
struct Record {
  float v[kFloats];
};

struct BuildOptions {
  int threads = 1;
  // indices of spheres that stay out of the tree, ascending; they are the last in leaf order
  const int32_t* apart = nullptr;
  int64_t apart_count = 0;
  int stride = 1;  // of the columns, in floats
  // Numbers of solids whose records hold a row instead (geom/solid.h), kSolidFloats a row; that of rows[0].
  const float* rows = nullptr;
  int64_t first_row = 0, row_count = 0;
  Cancel* cancel = nullptr;  // the build throws Cancelled when it is requested
};

template <int kFloats>
struct BuildResult {
  std::unique_ptr<Record<kFloats>[]> records;  // leaf order
  std::unique_ptr<int32_t[]> order;       // leaf position -> index in the input
  std::vector<Node> nodes;                // nodes[0] is the root; empty without spheres
};

// columns: the numbers of the records, count floats each, `stride` apart, finite
template <int kFloats>
BuildResult<kFloats> build_bvh(const float* const (&columns)[kFloats], int64_t count, const BuildOptions& options);

}  // namespace rt
