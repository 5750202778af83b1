// A binary tree of float boxes with one primitive in each leaf, and rays through it. A node is a `Cluster`, and its byte
// in `sizes` says which of its children are primitives; the root of a single primitive is that one.
#pragma once
#include "../render/traverse_binary.cuh"
#include "rays.cuh"

namespace rt {

RT_DEVICE void write_children(const Build& b, uint32_t node, uint32_t left, uint32_t right, uint32_t kinds) {
  b.clusters[node].left = left, b.clusters[node].right = right;
  b.sizes[node] = (uint8_t)kinds;
}
RT_DEVICE void write_box(const Build& b, uint32_t node, const Box3& box) {
  Cluster& c = b.clusters[node];
  c.lo[0] = box.lo.x, c.lo[1] = box.lo.y, c.lo[2] = box.lo.z;
  c.hi[0] = box.hi.x, c.hi[1] = box.hi.y, c.hi[2] = box.hi.z;
}
// Of a node that another block may have written in this launch, before a fence of this thread.
RT_DEVICE Box3 load_box(const Build& b, uint32_t ref, bool is_primitive) {
  if (is_primitive) return b.primitive_box_of(ref);
  const float4* p = (const float4*)(b.clusters + ref);
  const float4 low = load_fresh(p), high = load_fresh(p + 1);
  return {vec3(low.x, low.y, low.z), vec3(low.w, high.x, high.y)};
}

RT_DEVICE void test_primitive(const Build& b, uint32_t ref, const ThreadRay& ray, RayHit& hit) {
  const Primitive<float> p = relative_to(load_primitive(b.records, ref), ray.origin);
  const auto line = primitive_test(p, ray.direction);
  const float t = is_reached(line) ? nearest_hit(p, line) : -1.0f;
  if (t > 0.0f && (t < hit.t || (t == hit.t && ref < hit.primitive))) hit = {t, ref};
}

// Where the ray enters a node before the hit; infinity if it does not.
RT_DEVICE float entry_of(const Cluster& c, const ThreadRay& ray, float t_max) {
  return BinaryTree::entry({{c.lo[0], c.lo[1], c.lo[2]}, 0, {c.hi[0], c.hi[1], c.hi[2]}, 0}, ray, t_max);
}

constexpr int kMostWaiting = 128;

// The nearer child first. Primitives are tested at once, so that nodes with one inner child leave nothing that waits.
RT_DEVICE RayHit trace_binary(const Build& b, Vec3<float> origin, Vec3<float> direction) {
  const ThreadRay ray = thread_ray(origin, direction);
  RayHit hit = {kInfinity, kNone};
  StackEntry waiting[kMostWaiting];
  int top = 0;
  uint32_t node = b.state->root;
  if (b.count == 1) {
    test_primitive(b, node, ray, hit);
    return hit;
  }
  for (;;) {
    const uint32_t child[2] = {b.clusters[node].left, b.clusters[node].right}, kinds = b.sizes[node];
    const bool is_primitive[2] = {(kinds & kLeftIsPrimitive) != 0, (kinds & kRightIsPrimitive) != 0};
    float entry[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      entry[k] = kInfinity;
      if (is_primitive[k])
        test_primitive(b, child[k], ray, hit);
      else
        entry[k] = entry_of(b.clusters[child[k]], ray, hit.t);
    }
    const int near = entry[1] < entry[0];
    if (entry[near] < kInfinity) {
      if (entry[1 - near] < kInfinity) {
        if (top == kMostWaiting) return {kInfinity, kNone - 1};  // deeper than any tree of the bench: a wrong result
        waiting[top++] = {child[1 - near], entry[1 - near]};
      }
      node = child[near];
      continue;
    }
    do {
      if (top == 0) return hit;
    } while (waiting[--top].t > hit.t);
    node = waiting[top].node;
  }
}

}  // namespace rt

extern "C" __global__ void __launch_bounds__(128)
    trace(const __grid_constant__ rt::BuildArgs args, const float4* rays, rt::RayHit* hits, long long count) {
  const rt::Build b{args};
  rt::trace_rays(rays, hits, count, [&](rt::Vec3<float> o, rt::Vec3<float> d) { return rt::trace_binary(b, o, d); });
}
