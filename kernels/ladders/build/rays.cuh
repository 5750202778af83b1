// Rays through the tree of a rung, and what they find.
#pragma once
#include "../../core/layout.h"
#include "../../cuda/bvh/state.cuh"
#include "../../cuda/traverse_single.cuh"

RT_LAYOUT_TABLE

namespace rt {

// The host side has the same layout (raytracer/benchmark/build_ladder.py). Directions are unit vectors.
struct RayHit {
  float t;           // length; infinity without a hit
  uint32_t primitive;  // its number in the input; kNone without a hit
};
static_assert(sizeof(RayHit) == 8);

// Calls trace(origin, direction), which returns a RayHit, for the ray of this thread. rays: two words each
template <class Trace>
RT_DEVICE void trace_rays(const float4* rays, RayHit* hits, long long count, Trace trace) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 o = __ldg(rays + 2 * i), d = __ldg(rays + 2 * i + 1);
  hits[i] = trace(vec3(o.x, o.y, o.z), vec3(d.x, d.y, d.z));
}

}  // namespace rt
