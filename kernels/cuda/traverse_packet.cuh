// Packet traversal by a warp with 32 rays (CUDA).
//
// The rays share an apex, or a direction, and lie inside four planes. A node visit is one step of the
// warp: lane i tests child i mod 8 against plane i / 8. The spheres of a node are first tested against the
// planes, one lane per sphere, and those that reach into the packet against all rays, one lane per ray.
#pragma once
#include "primitive_load.cuh"
#include "warp_reduce.cuh"
#include "../bvh/node.h"
#include "../integrator/hit_filter.h"

namespace RT_NS {

constexpr unsigned kFullWarp = 0xffffffffu;

struct WarpStackEntry {
  uint32_t node;
  float depth;
};

// per warp, in shared memory
struct WarpScratch {
  float4 plane[4];  // normal, offset; inside: n . (x - apex) + offset <= 0
  WarpStackEntry stack[kMaxWaiting + 3];  // a multiple of 16 bytes
};

struct WarpPacket {
  Vec3<float> apex, axis, u, v;  // apex: common origin, or any point near parallel rays
  bool parallel;
  float reach;                   // farthest ray origin from the apex
};

RT_DEVICE float warp_min(float a) {
  int i = __float_as_int(a);
  i = warp_least(i < 0 ? i ^ 0x7fffffff : i);
  return __int_as_float(i < 0 ? i ^ 0x7fffffff : i);
}
RT_DEVICE float warp_max(float a) { return -warp_min(-a); }

// The plane of this lane, 0..3: -u, +u, -v, +v; also stored for all.
RT_DEVICE float4 make_plane(const WarpPacket& f, int which, float limit) {
  float sign = which & 1 ? 1.0f : -1.0f;
  Vec3<float> n = sign * (which < 2 ? f.u : f.v);
  if (f.parallel) return make_float4(n.x, n.y, n.z, -sign * limit);
  n = fma3(-sign * limit, f.axis, n);
  n = (1.0f / sqrt_(dot(n, n))) * n;
  return make_float4(n.x, n.y, n.z, 0.0f);
}

RT_DEVICE float4 warp_planes(const WarpPacket& f, Vec3<float> o, Vec3<float> d, WarpScratch& w) {
  Vec3<float> e = f.parallel ? o - f.apex : d;
  float inv = f.parallel ? 1.0f : 1.0f / dot(d, f.axis);
  float a = dot(e, f.u) * inv, b = dot(e, f.v) * inv;
  float limit[4] = {warp_min(a), warp_max(a), warp_min(b), warp_max(b)};
  int lane = threadIdx.x & 31, which = lane >> 3;
  float own = which == 0 ? limit[0] : which == 1 ? limit[1] : which == 2 ? limit[2] : limit[3];
  float4 p = make_plane(f, which, own);
  if ((lane & 7) == 0) w.plane[which] = p;
  __syncwarp();
  return p;
}

struct WarpNode {
  uint4 head, tail;  // origin and exponents; bases and leaf ends
  Vec3<float> rel, cell;
  float error;
};

RT_DEVICE WarpNode load_node(const rt::Node* nodes, uint32_t index, const WarpPacket& f) {
  const uint4* p = (const uint4*)(nodes + (size_t)index);
  WarpNode n;
  n.head = __ldg(p), n.tail = __ldg(p + 1);
  n.rel = vec3(__uint_as_float(n.head.x), __uint_as_float(n.head.y), __uint_as_float(n.head.z)) - f.apex;
  n.cell = vec3(__uint_as_float((n.head.w & 255u) << 23), __uint_as_float((n.head.w >> 8 & 255u) << 23),
                __uint_as_float((n.head.w >> 16 & 255u) << 23));
  float reach = max_(abs_(n.rel.x) + 255.0f * n.cell.x, abs_(n.rel.y) + 255.0f * n.cell.y);
  reach = max_(max_(reach, abs_(n.rel.z) + 255.0f * n.cell.z), f.reach);
  n.error = kBoxError * reach;
  return n;
}

// n . (corner of the child's box that is lowest along n)
RT_DEVICE float lowest_corner(const WarpNode& n, const uint8_t* child, Vec3<float> dir) {
  float x = fma_((float)__ldg(child + (dir.x < 0.0f ? 8 : 0)), n.cell.x, n.rel.x);
  float y = fma_((float)__ldg(child + (dir.y < 0.0f ? 24 : 16)), n.cell.y, n.rel.y);
  float z = fma_((float)__ldg(child + (dir.z < 0.0f ? 40 : 32)), n.cell.z, n.rel.z);
  return fma_(dir.z, z, fma_(dir.y, y, dir.x * x));
}

// Number of eight bytes that are <= k.
RT_DEVICE int bytes_not_above(uint32_t lo, uint32_t hi, uint32_t k) {
  uint32_t kk = k * 0x01010101u;
  return (__popc(__vcmpleu4(lo, kk)) + __popc(__vcmpleu4(hi, kk))) >> 3;
}

template <class Filter>
RT_DEVICE void test_primitive(const Primitive<float>& primitive, uint32_t at, Vec3<float> o, Vec3<float> d, float& t,
                              uint32_t& prim, const Filter& filter) {
  const Primitive<float> p = relative_to(primitive, o);
  const float hit = filter.nearest(p, primitive_test(p, d));
  if (hit > 0.0f && (hit < t || (hit == t && at < prim)) && filter.accepts(at)) t = hit, prim = at;
}

// Primitives in leaf order. Those of a small scene are in constant memory too, which broadcasts a primitive to
// all lanes of a warp.
struct PrimitiveSource {
  const PrimitiveRecord* global;
  const PrimitiveRecord* constant;  // null: the scene is too large
  RT_DEVICE Primitive<float> of_lane(size_t i) const { return load_primitive(global, i); }
  RT_DEVICE Primitive<float> of_warp(size_t i) const {
    return to_primitive(constant ? constant[i] : load_record(global + i), global);
  }
};

// Tests the primitives of `slots` and updates the hit of this lane. Returns how many all lanes tested.
template <class Filter>
RT_DEVICE int warp_leaves(const WarpNode& n, uint32_t slots, const PrimitiveSource& primitives, const WarpPacket& f,
                          WarpScratch& w, Vec3<float> o, Vec3<float> d, float limit, float& t, uint32_t& prim,
                          const Filter& filter) {
  uint32_t total = n.tail.w >> 24;
  int tested = 0;
  for (uint32_t base = 0; base < total; base += 32) {
    uint32_t k = base + (threadIdx.x & 31);
    bool in = k < total && (slots >> bytes_not_above(n.tail.z, n.tail.w, k) & 1u);
    if (in) {
      const Primitive<float> seen = relative_to(primitives.of_lane((size_t)n.tail.y + k), f.apex);
      const Vec3<float> rel = seen.center;
      float size = reach_along(seen, f.axis) + n.error;
      float depth = dot(rel, f.axis);
      in = depth - size <= limit && depth + size >= 0.0f;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float4 p = w.plane[i];
        size = reach_along(seen, vec3(p.x, p.y, p.z)) + n.error;
        in = in && fma_(p.z, rel.z, fma_(p.y, rel.y, fma_(p.x, rel.x, p.w))) <= size;
      }
    }
    uint32_t touched = __ballot_sync(kFullWarp, in);
    tested += __popc(touched);
    for (uint32_t m = touched; m; m &= m - 1) {
      uint32_t at = n.tail.y + base + (uint32_t)(__ffs(m) - 1);
      test_primitive(primitives.of_warp(at), at, o, d, t, prim, filter);
    }
  }
  return tested;
}

// Work budget of a packet in instructions of a warp, about the cost of 32 single rays. If spheres are smaller
// than a pixel, a packet visits more than its rays.
constexpr int kPacketBudget = 20000;
constexpr int kNodeCost = 100, kSphereCost = 24;

// Nearest hit of the ray of each lane with t < t; called by all 32 lanes. Returns false if the budget is
// exceeded; the current hits then bound the search by single rays.
template <class Filter>
RT_DEVICE bool warp_intersect_closest(const rt::Node* nodes, const PrimitiveSource& primitives, const WarpPacket& f,
                                      WarpScratch& w, Vec3<float> o, Vec3<float> d, float& t, uint32_t& prim,
                                      const Filter& filter) {
  const int lane = threadIdx.x & 31, child = lane & 7;
  const float4 own = warp_planes(f, o, d, w);
  const Vec3<float> normal = vec3(own.x, own.y, own.z);
  const float cosine = dot(d, f.axis);
  float limit = kInfinity;  // maximum depth along the axis of all lanes
  uint32_t node = 0;
  int top = 0, budget = kPacketBudget;
  for (;;) {
    if (budget < 0) return false;
    budget -= kNodeCost;
    WarpNode n = load_node(nodes, node, f);
    const uint8_t* boxes = (const uint8_t*)(nodes + (size_t)node) + 32 + child;
    float depth = lowest_corner(n, boxes, f.axis) - n.error;
    bool in = lowest_corner(n, boxes, normal) + own.w <= n.error && depth <= limit;
    // boxes behind the apex straddle the planes, which intersect there
    if (depth < 0.0f) in = in && lowest_corner(n, boxes, -1.0f * f.axis) <= n.error;
    uint32_t hit = __ballot_sync(kFullWarp, in);
    hit &= hit >> 16, hit &= hit >> 8;
    const uint32_t inner = n.head.w >> 24;
    // slots with spheres: their end differs from the previous end
    uint32_t before_lo = n.tail.z << 8, before_hi = n.tail.w << 8 | n.tail.z >> 24;
    uint32_t differs = child < 4 ? (n.tail.z ^ before_lo) >> 8 * child : (n.tail.w ^ before_hi) >> 8 * (child - 4);
    uint32_t leaves = __ballot_sync(kFullWarp, (differs & 255u) != 0) & hit & 255u;
    if (leaves) {
      budget -= kSphereCost * warp_leaves(n, leaves, primitives, f, w, o, d, limit, t, prim, filter);
      limit = warp_max(t * cosine);
    }
    uint32_t visit = hit & inner;
    if (visit) {
      // nearest on top: a child is above those that are farther
      int above = 0;
      for (uint32_t m = visit; m; m &= m - 1) {
        int j = __ffs(m) - 1;
        float other = __shfl_sync(kFullWarp, depth, j);
        above += other > depth || (other == depth && j > child);
      }
      if (lane < 8 && (visit >> child & 1u))
        w.stack[top + above] = {n.tail.x + __popc(inner & ((1u << child) - 1u)), depth};
      top += __popc(visit);
      __syncwarp();
    }
    float next_depth;
    do {
      if (top == 0) return true;
      WarpStackEntry e = w.stack[--top];
      node = e.node, next_depth = e.depth;
    } while (next_depth > limit);
    __syncwarp();
  }
}

}  // namespace RT_NS
