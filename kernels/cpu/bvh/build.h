// Construction of the BVH on the host: binned surface area heuristic (Wald 2007), directly into 8-wide
// quantised nodes. Spheres are returned in leaf order. The result does not depend on the number of threads.
#pragma once
#include <memory>
#include <vector>

#include "../../core/structs.h"
#include "../../geom/primitive.h"
#include "../cancel.h"

namespace rt {

struct Record {
  float v[kPrimitiveFloats];
};

struct BuildOptions {
  int threads = 1;
  int max_leaf = 8;    // maximum number of spheres per slot
  // indices of spheres that stay out of the tree, ascending; they are the last in leaf order
  const int32_t* apart = nullptr;
  int64_t apart_count = 0;
  Cancel* cancel = nullptr;  // the build throws Cancelled when it is requested
};

struct BuildResult {
  std::unique_ptr<Record[]> records;      // leaf order
  std::unique_ptr<int32_t[]> order;       // leaf position -> index in the input
  std::vector<Node> nodes;                // nodes[0] is the root; empty without spheres
};

// columns: the numbers of the records, count floats each, finite
BuildResult build_bvh(const float* const (&columns)[kPrimitiveFloats], int64_t count, const BuildOptions& options);

}  // namespace rt
