// Single-ray traversal of a binary tree with float boxes (CUDA), for comparison with the compressed tree of
// traverse_single.cuh. The tree is built by raytracer/benchmark/binary_tree.py.
#pragma once
#include "../../cuda/traverse_single.cuh"

namespace RT_NS {

constexpr int kBinaryLevels = 32;  // median splits down to leaves: 2^31 spheres need fewer

struct BinaryNode {
  float lo[3];
  uint32_t first;  // inner: index of its two adjacent children; leaf: its first sphere
  float hi[3];
  uint32_t count;  // spheres of a leaf; 0 for an inner node
};
static_assert(sizeof(BinaryNode) == 32);

struct BinaryTree {
  const float4* nodes;  // two words per node
  const PrimitiveRecord* spheres;

  RT_DEVICE void exclude_large(uint32_t) {}  // done by the builder
  RT_DEVICE Primitive<float> primitive(uint32_t prim) const { return load_primitive(spheres, (size_t)prim); }

  RT_DEVICE BinaryNode load(uint32_t index) const {
    float4 a = __ldg(nodes + 2 * (size_t)index), b = __ldg(nodes + 2 * (size_t)index + 1);
    return {{a.x, a.y, a.z}, as_uint(a.w), {b.x, b.y, b.z}, as_uint(b.w)};
  }

  // t at which the ray enters the box, widened by kBoxError; infinity if not before t_max.
  RT_DEVICE static float entry(const BinaryNode& n, const ThreadRay& r, float t_max) {
    Vec3<float> lo = splat3<float>(n.lo) - r.origin, hi = splat3<float>(n.hi) - r.origin;
    float error = kBoxError * max_(max_abs(lo), max_abs(hi));
    Vec3<float> e = vec3(error, error, error);
    Vec3<float> a = lo - e, b = hi + e;
    a = vec3(a.x * r.inverse.x, a.y * r.inverse.y, a.z * r.inverse.z);
    b = vec3(b.x * r.inverse.x, b.y * r.inverse.y, b.z * r.inverse.z);
    float t0 = max_(max_(min_(a.x, b.x), min_(a.y, b.y)), max_(min_(a.z, b.z), 0.0f));
    float t1 = min_(min_(max_(a.x, b.x), max_(a.y, b.y)), min_(max_(a.z, b.z), t_max));
    return t0 <= t1 ? t0 : kInfinity;
  }

  template <class Filter>
  RT_DEVICE void intersect_closest(Vec3<float> o, Vec3<float> d, uint32_t self, float& t, uint32_t& prim,
                                   const Filter& filter) const {
    const ThreadRay ray = thread_ray(o, d);
    struct Entry {
      uint32_t node;
      float t;
    } stack[kBinaryLevels];
    int top = 0;
    BinaryNode n = load(0);
    for (;;) {
      if (n.count) {
        for (uint32_t at = n.first; at < n.first + n.count; ++at) {
          if (at == self) continue;
          const Primitive<float> p = relative_to(primitive(at), o);
          const float hit = filter.nearest(p, primitive_test(p, d));
          if (hit > 0.0f && (hit < t || (hit == t && at < prim)) && filter.accepts(at)) t = hit, prim = at;
        }
      } else {
        const uint32_t left = n.first;
        const BinaryNode a = load(left), b = load(left + 1);
        const float ta = entry(a, ray, t), tb = entry(b, ray, t);
        const bool b_first = tb < ta;
        if (max_(ta, tb) < kInfinity) stack[top++] = {b_first ? left : left + 1, max_(ta, tb)};
        if (min_(ta, tb) < kInfinity) {
          n = b_first ? b : a;
          continue;
        }
      }
      do {
        if (top == 0) return;
      } while (stack[--top].t > t);
      n = load(stack[top].node);
    }
  }

  template <class Filter>
  RT_DEVICE bool occluded(Vec3<float> o, Vec3<float> d, uint32_t self, float t_max, const Filter& filter) const {
    const ThreadRay ray = thread_ray(o, d);
    uint32_t stack[kBinaryLevels];
    int top = 0;
    BinaryNode n = load(0);
    for (;;) {
      if (n.count) {
        for (uint32_t at = n.first; at < n.first + n.count; ++at) {
          const Primitive<float> p = relative_to(primitive(at), o);
          const auto test = primitive_test(p, d);
          if (is_reached(test) && at != self && filter.blocks(p, test, t_max) && filter.accepts(at)) return true;
        }
      } else {
        const uint32_t left = n.first;
        const BinaryNode a = load(left), b = load(left + 1);
        const bool in_a = entry(a, ray, t_max) < kInfinity, in_b = entry(b, ray, t_max) < kInfinity;
        if (in_a && in_b) stack[top++] = left + 1;
        if (in_a || in_b) {
          n = in_a ? a : b;
          continue;
        }
      }
      if (top == 0) return false;
      n = load(stack[--top]);
    }
  }
};

}  // namespace RT_NS
