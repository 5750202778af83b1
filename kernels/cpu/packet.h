// Packet traversal of sixty-four rays that share an apex (or a direction).
//
// The packet is four quads of sixteen rays. A quad is bounded by four planes. A node is tested once, its
// eight child boxes against the packet's four planes; a primitive's bound is tested against the sixteen planes of
// the quads in one go, and only quads that it may touch run the ray test. Whether a ray hits is
// decided by that test alone, so the picture does not depend on how rays were put into packets.
// Ideas: Reshetov et al. 2005 (frustum culling), Johnson et al. 2005 (shadow rays as seen from the light).
#pragma once
#include "traverse_single.h"

namespace RT_NS {

constexpr int kPacket = 64, kQuads = 4, kQuad = 16;

struct Packet {
  alignas(64) float origin[3][kPacket];  // where all have one, the first counts
  alignas(64) float direction[3][kPacket];
  alignas(64) float t[kPacket];  // nearest so far, or the end of the segment
  alignas(64) uint32_t prim[kPacket];  // nearest so far; any-hit: the ray's own
};

// The filters of a packet of rays. kFilters: whether they know opacity and clipping
template <bool kFilters = RT_ALPHA_CLIP>
struct PacketFilters {
  const rt::SceneView& scene;
  const Packet& rays;
  uint32_t sample;
  bool to_light;  // as ray_filter
  alignas(64) uint32_t pixel[kFilters ? kPacket : kWide];  // presence_key of the rays

  RT_HD void set_pixels(int i, UW x, UW y) {
    if (kFilters) store(pixel + i, presence_key(*scene.frame, x, y));
  }
  template <class F> RT_HD auto filter(UintOf<F> key, Vec3<F> origin, Vec3<F> direction) const {
    if constexpr (kFilters)
      return sample_hits<F>(scene, key, sample, origin, direction, to_light);
    else
      return AllHits();
  }
  // of the vector of rays at i, and of ray i
  RT_HD auto at(int i) const {
    return filter<FW>(load<UW>(pixel + (kFilters ? i : 0)), load3(rays.origin, i), load3(rays.direction, i));
  }
  RT_HD auto one(int i) const {
    return filter<float>(pixel[kFilters ? i : 0], lane3(rays.origin, i), lane3(rays.direction, i));
  }
};

// Coordinate frame of a packet: `axis` points away from the apex, a and b are the coordinates on the
// plane across it (slopes for a common apex, lengths for parallel rays).
struct PacketFrame {
  Vec3<float> apex, axis, u, v;  // apex: any point near the rays if they are parallel
  bool parallel;
};

RT_HD void make_basis(PacketFrame& f) {
  Vec3<float> w = f.axis;
  Vec3<float> helper = abs_(w.x) < 0.6f ? vec3(1.0f, 0.0f, 0.0f) : vec3(0.0f, 1.0f, 0.0f);
  f.u = normalize(
      vec3(helper.y * w.z - helper.z * w.y, helper.z * w.x - helper.x * w.z, helper.x * w.y - helper.y * w.x));
  f.v = vec3(w.y * f.u.z - w.z * f.u.y, w.z * f.u.x - w.x * f.u.z, w.x * f.u.y - w.y * f.u.x);
}

struct Rect {
  float a0, a1, b0, b1;
};

// plane k of quad q at [4 * k + q]; the packet's own planes last. Inside: n . (x - apex) + offset <= 0
struct PacketPlanes {
  alignas(64) float nx[20], ny[20], nz[20], offset[20];
  Vec3<float> apex, axis;
  float reach;    // farthest ray origin from the apex: tests on these rays err in proportion
  float nearest;  // no ray goes below this depth along the axis
};

RT_HD void set_side(PacketPlanes& p, int at, const PacketFrame& f, Vec3<float> side, float sign, float limit) {
  Vec3<float> n = sign * side;
  float offset = -sign * limit;
  if (!f.parallel) {
    n = fma3(-sign * limit, f.axis, n);
    n = (1.0f / sqrt_(dot(n, n))) * n;
    offset = 0.0f;
  }
  p.nx[at] = n.x, p.ny[at] = n.y, p.nz[at] = n.z, p.offset[at] = offset;
}

RT_HD void set_planes(PacketPlanes& p, int first, int stride, const PacketFrame& f, Rect r) {
  set_side(p, first, f, f.u, -1.0f, r.a0);
  set_side(p, first + stride, f, f.u, 1.0f, r.a1);
  set_side(p, first + 2 * stride, f, f.v, -1.0f, r.b0);
  set_side(p, first + 3 * stride, f, f.v, 1.0f, r.b1);
}

RT_HD Rect join(Rect a, Rect b) { return {min_(a.a0, b.a0), max_(a.a1, b.a1), min_(a.b0, b.b0), max_(a.b1, b.b1)}; }

RT_HD void make_planes(PacketPlanes& p, const PacketFrame& f, const Rect* quad, float reach, float nearest) {
  p.apex = f.apex, p.axis = f.axis, p.reach = reach, p.nearest = nearest;
  Rect all = quad[0];
  for (int q = 0; q < kQuads; ++q) {
    set_planes(p, q, 4, f, quad[q]);
    all = join(all, quad[q]);
  }
  set_planes(p, 16, 1, f, all);
}

// Child boxes of a node that reach into the packet between `nearest` and `limit` along the axis.
struct PacketHits {
  F8 depth;        // smallest depth of each box
  uint32_t mask;
  float error;     // by how much tests on things in this node may be off
};

RT_HD PacketHits cull_boxes(const rt::Node& n, const PacketPlanes& p, float limit) {
  const float apex[3] = {p.apex.x, p.apex.y, p.apex.z};
  const uint8_t* planes[6] = {n.lo_x, n.hi_x, n.lo_y, n.hi_y, n.lo_z, n.hi_z};
  F8 box[6];
  float reach = p.reach;
  for (int a = 0; a < 3; ++a) {
    float rel = n.origin[a] - apex[a], cell = node_cell(n, a);
    reach = max_(reach, abs_(rel) + 255.0f * cell);
    box[2 * a] = fma_(load_bytes(planes[2 * a]), F8(cell), F8(rel));
    box[2 * a + 1] = fma_(load_bytes(planes[2 * a + 1]), F8(cell), F8(rel));
  }
  float error = kBoxError * reach;
  MaskOf<F8> keep = box[0] <= box[1];  // an empty slot is inside out
  for (int k = 16; k < 20; ++k) {
    F8 d = fma_(F8(p.nx[k]), box[p.nx[k] < 0.0f], F8(p.offset[k] - error));
    d = fma_(F8(p.ny[k]), box[2 + (p.ny[k] < 0.0f)], d);
    d = fma_(F8(p.nz[k]), box[4 + (p.nz[k] < 0.0f)], d);
    keep = keep & (d <= F8(0.0f));
  }
  F8 depth = fma_(F8(p.axis.x), box[p.axis.x < 0.0f], F8(-error));
  depth = fma_(F8(p.axis.y), box[2 + (p.axis.y < 0.0f)], depth);
  depth = fma_(F8(p.axis.z), box[4 + (p.axis.z < 0.0f)], depth);
  // boxes behind the apex straddle the planes, which meet there
  F8 end = fma_(F8(p.axis.x), box[p.axis.x >= 0.0f], F8(error));
  end = fma_(F8(p.axis.y), box[2 + (p.axis.y >= 0.0f)], end);
  end = fma_(F8(p.axis.z), box[4 + (p.axis.z >= 0.0f)], end);
  keep = keep & (depth <= F8(limit)) & (end >= F8(p.nearest));
  return {depth, bits(keep), error};
}

// The distance from its centre at which a primitive may touch planes k and on.
RT_HD FW plane_reach(const PacketPlanes&, int, const Sphere<float>& s, float error) { return FW(s.radius + error); }
RT_HD FW plane_reach(const PacketPlanes& p, int k, const Solid<float>& c, float error) {
  const Vec3<FW> normal = {load<FW>(p.nx + k), load<FW>(p.ny + k), load<FW>(p.nz + k)};
  return reach_along(splat_primitive<FW>(c), normal) + FW(error);
}

// Quads, as bits, that a primitive may touch, which is relative to the apex.
RT_HD uint32_t cull_primitive(const PacketPlanes& p, const Primitive<float>& seen, float error) {
  uint32_t out = 0;
  for (int k = 0; k < 16; k += kWide) {
    FW d = fma_(load<FW>(p.nx + k), FW(seen.center.x), load<FW>(p.offset + k));
    d = fma_(load<FW>(p.ny + k), FW(seen.center.y), d);
    d = fma_(load<FW>(p.nz + k), FW(seen.center.z), d);
    out |= bits(d > plane_reach(p, k, seen, error)) << k;
  }
  out |= out >> 8;
  return ~(out | out >> 4) & 15u;
}

// The primitive as the rays at `at` see it. from_origin: as their one origin does
template <bool kOneOrigin>
RT_HD Primitive<FW> as_seen(const Packet& r, int at, const Primitive<float>& primitive,
                            const Primitive<float>& from_origin) {
  if (kOneOrigin) return splat_primitive<FW>(from_origin);
  return relative_to(splat_primitive<FW>(primitive), load3(r.origin, at));
}

// Keep the nearest; returns whether any ray of the quad came nearer.
template <bool kOneOrigin, class Filters>
RT_HD bool quad_intersect_closest(Packet& r, int quad, const Primitive<float>& primitive,
                                  const Primitive<float>& from_origin, uint32_t prim, const Filters& filters) {
  bool nearer = false;
  for (int at = quad * kQuad; at < (quad + 1) * kQuad; at += kWide) {
    Vec3<FW> d = load3(r.direction, at);
    const Primitive<FW> p = as_seen<kOneOrigin>(r, at, primitive, from_origin);
    const auto test = primitive_test(p, d);
    if (!any(is_reached(test))) continue;
    const auto filter = filters.at(at);
    FW t = filter.nearest(p, test), best = load<FW>(r.t + at);
    UW id = load<UW>(r.prim + at);
    MW hit = (t > FW(0.0f)) & (t <= best);
    // equal t: the lower leaf position; rare, so looked at only then
    MW tie = hit & (t == best);
    if (any(tie)) hit = hit & (!tie | (UW(prim) < id));
    if constexpr (!decltype(filter)::kAcceptsAll)
      if (any(hit)) hit = hit & filter.accepts(prim);
    if (!any(hit)) continue;
    store(r.t + at, select(hit, t, best));
    store(r.prim + at, select(hit, UW(prim), id));
    nearer = true;
  }
  return nearer;
}

// Bits of the rays of a quad that the primitive occludes.
template <class Filters>
RT_HD uint32_t quad_occluded(const Packet& r, int quad, const Primitive<float>& primitive, uint32_t prim,
                             const Filters& filters) {
  uint32_t blocked = 0;
  for (int at = quad * kQuad; at < (quad + 1) * kQuad; at += kWide) {
    Vec3<FW> d = load3(r.direction, at);
    const Primitive<FW> p = as_seen<false>(r, at, primitive, primitive);
    const auto test = primitive_test(p, d);
    if (!any(is_reached(test))) continue;
    const auto filter = filters.at(at);
    MW hit = is_reached(test) & filter.blocks(p, test, load<FW>(r.t + at)) & !(load<UW>(r.prim + at) == UW(prim));
    if constexpr (!decltype(filter)::kAcceptsAll)
      if (any(hit)) hit = hit & filter.accepts(prim);
    blocked |= bits(hit) << (at - quad * kQuad);
  }
  return blocked;
}

struct PacketEntry {
  uint32_t node;
  float depth;
};

RT_HD float quad_limit(const Packet& r, int quad) {
  FW m = load<FW>(r.t + quad * kQuad);
  for (int at = quad * kQuad + kWide; at < (quad + 1) * kQuad; at += kWide) m = max_(m, load<FW>(r.t + at));
  return reduce_max(m);
}

// Nearest hits of a packet of camera rays. r.t holds the far end and r.prim kNoPrim on entry; filters.at(i): the filter
// of the vector of rays at i.
template <bool kOneOrigin, class Filters>
void packet_intersect_closest(const rt::SceneView& s, const PacketPlanes& p, Packet& r, const Filters& filters) {
  float limit[kQuads], farthest = 0.0f;
  for (int q = 0; q < kQuads; ++q) limit[q] = quad_limit(r, q), farthest = max_(farthest, limit[q]);
  PacketEntry stack[kMaxWaiting];
  int top = 0;
  stack[top++] = {0, 0.0f};
  Vec3<float> origin = lane3(r.origin, 0);
  while (top) {
    PacketEntry e = stack[--top];
    if (e.depth > farthest) continue;
    const rt::Node& n = s.nodes[e.node];
    PacketHits hits = cull_boxes(n, p, farthest);
    alignas(32) float depth[8];
    store(depth, hits.depth);
    // nearest first: insertion sort of at most eight
    int order[8], count = 0;
    for (uint32_t m = hits.mask; m; m &= m - 1) {
      int i = __builtin_ctz(m), k = count++;
      for (; k > 0 && depth[order[k - 1]] > depth[i]; --k) order[k] = order[k - 1];
      order[k] = i;
    }
    for (int k = 0; k < count; ++k) {
      int i = order[k];
      if ((n.inner >> i & 1) || depth[i] > farthest) continue;
      if (is_cancelled(s)) return;
      for (uint32_t at = leaf_begin(n, i), end = leaf_end(n, i); at < end; ++at) {
        const Primitive<float> primitive = load_primitive(s, at);
        const Primitive<float> seen = relative_to(primitive, p.apex);
        uint32_t quads = cull_primitive(p, seen, hits.error);
        if (!quads) continue;
        const float size = reach_along(seen, p.axis) + hits.error;
        float depth_of_center = dot(seen.center, p.axis);
        if (depth_of_center + size < p.nearest) continue;
        float near = depth_of_center - size;
        const Primitive<float> from_origin = relative_to(primitive, origin);
        for (; quads; quads &= quads - 1) {
          int q = __builtin_ctz(quads);
          if (near > limit[q]) continue;
          if (quad_intersect_closest<kOneOrigin>(r, q, primitive, from_origin, at, filters)) {
            limit[q] = quad_limit(r, q);
            farthest = max_(max_(limit[0], limit[1]), max_(limit[2], limit[3]));
          }
        }
      }
    }
    for (int k = count; k-- > 0;) {
      int i = order[k];
      if ((n.inner >> i & 1) && depth[i] <= farthest) stack[top++] = {child_node(n, i), depth[i]};
    }
  }
}

// A packet of rays that are far apart visits nodes that no single ray visits. Its work is counted in about
// vector instructions; beyond this budget single rays are cheaper.
constexpr int kPacketBudget = 24000, kNodeWork = 60, kPrimitiveWork = 10, kQuadWork = 24;

struct PacketShadow {
  uint64_t blocked, open;  // one bit per ray; open: undecided, because the budget was exceeded
};

// Occluded rays of `alive`. `depth_limit`: no ray starts farther along the axis.
template <class Filters>
PacketShadow packet_occluded(const rt::SceneView& s, const PacketPlanes& p, const Packet& r, uint64_t alive,
                             float depth_limit, const Filters& filters) {
  uint64_t open = alive;
  int work = 0;
  uint32_t stack[kMaxWaiting];
  int top = 0;
  stack[top++] = 0;
  while (top) {
    if ((work += kNodeWork) > kPacketBudget) return {alive & ~open, open};
    const rt::Node& n = s.nodes[stack[--top]];
    PacketHits hits = cull_boxes(n, p, depth_limit);
    for (uint32_t m = hits.mask; m; m &= m - 1) {
      int i = __builtin_ctz(m);
      if (n.inner >> i & 1) {
        stack[top++] = child_node(n, i);
        continue;
      }
      for (uint32_t at = leaf_begin(n, i), end = leaf_end(n, i); at < end; ++at) {
        const Primitive<float> primitive = load_primitive(s, at);
        work += kPrimitiveWork;
        for (uint32_t quads = cull_primitive(p, relative_to(primitive, p.apex), hits.error); quads;
             quads &= quads - 1) {
          int q = __builtin_ctz(quads);
          if (!(open >> (16 * q) & 0xffffu)) continue;
          work += kQuadWork;
          open &= ~((uint64_t)quad_occluded(r, q, primitive, at, filters) << (16 * q));
        }
      }
      if (!open) return {alive, 0};
    }
  }
  return {alive & ~open, 0};
}

}  // namespace RT_NS
