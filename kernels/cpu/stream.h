// Many rays of one octant down the tree together, without coherence: a list of rays for each node that any of them
// reaches, after Barringer and Akenine-Moller 2014 (dynamic ray stream traversal).
//
// A node is unpacked once for its list. Each ray of the list is tested against the eight boxes at once, by about
// twenty instructions and no branch, and the lists of the children are packed out of the masks of hits. Primitives are
// tested as for single rays, so that the hits are those of traverse_single.h. A short list goes on ray by ray.
#pragma once
#include "tile.h"
#include "traverse_single.h"

namespace RT_NS {

constexpr int kFewest = 3;      // rays of a list; fewer are traced one by one
constexpr int kListSlack = 16;  // a vector may be stored past the end of a list

// Points from which the rays of a list start.
struct StreamBounds {
  float lo[3], hi[3];
};

// The boxes of a node, larger by the error of the tests, by the side that rays of the octant meet.
struct StreamNode {
  F8 near[3], far[3];
  F8 order;  // grows along the rays
};

RT_HD int ray_octant(const rt::StreamRay& r) {
  return (r.direction[0] < 0.0f) | (r.direction[1] < 0.0f) << 1 | (r.direction[2] < 0.0f) << 2;
}

RT_HD FW safe_inverse(FW d) {
  const FW least = select(d < FW(0.0f), FW(-1e-18f), FW(1e-18f));
  return FW(1.0f) / select(abs_(d) > FW(1e-18f), d, least);
}

// Those of a vector of rays that are in the mask, appended in order.
RT_HD void queue_stream(rt::RayStream& q, Vec3<FW> origin, Vec3<FW> direction, FW t, UW self, UW prim, UW slot,
                        uint32_t mask) {
  const Vec3<FW> inverse = {safe_inverse(direction.x), safe_inverse(direction.y), safe_inverse(direction.z)};
  const Vec3<FW> shift = {origin.x * inverse.x, origin.y * inverse.y, origin.z * inverse.z};
  const FW column[16] = {origin.x,           origin.y,           origin.z,           t,
                         inverse.x,          inverse.y,          inverse.z,          as_float(self),
                         FW(0.0f) - shift.x, FW(0.0f) - shift.y, FW(0.0f) - shift.z, as_float(prim),
                         direction.x,        direction.y,        direction.z,        as_float(slot)};
  static_assert(sizeof(rt::StreamRay) == 64);
  alignas(64) float lane[16][kWide];
  for (int k = 0; k < 16; ++k) store(lane[k], column[k]);
  for (; mask; mask &= mask - 1) {
    const int i = __builtin_ctz(mask);
    float record[16];
    for (int k = 0; k < 16; ++k) record[k] = lane[k][i];
    memcpy(&q.ray[q.count++], record, sizeof record);
  }
}

RT_HD Vec3<float> origin_of(const rt::StreamRay& r) { return vec3(r.origin[0], r.origin[1], r.origin[2]); }
RT_HD Vec3<float> direction_of(const rt::StreamRay& r) { return vec3(r.direction[0], r.direction[1], r.direction[2]); }
RT_HD SingleRay as_single(const rt::StreamRay& r) { return single_ray(origin_of(r), direction_of(r)); }

// False if rays start so far away that the error is larger than the grid of the node, whose boxes then hold back little.
RT_HD bool unpack_boxes(const rt::Node& n, const StreamBounds& from, int octant, StreamNode& out) {
  const uint8_t* planes[3][2] = {{n.lo_x, n.hi_x}, {n.lo_y, n.hi_y}, {n.lo_z, n.hi_z}};
  float cell[3], reach = 0.0f, place = 0.0f, coarsest = 0.0f;
  for (int a = 0; a < 3; ++a) {
    cell[a] = node_cell(n, a);
    const float side = 255.0f * cell[a];
    reach = max_(reach, max_(abs_(n.origin[a] - from.lo[a]), abs_(n.origin[a] - from.hi[a])) + side);
    place = max_(place, abs_(n.origin[a]) + side);
    coarsest = max_(coarsest, cell[a]);
  }
  // kBoxError covers tests relative to the origin of a ray; here planes and products with origins are rounded as well
  const float error = kBoxError * reach + 0.25f * kBoxError * place;
  out.order = F8(0.0f);
  for (int a = 0; a < 3; ++a) {
    const int near = octant >> a & 1;
    const float out_by = near ? -error : error;
    out.near[a] = fma_(load_bytes(planes[a][near]), F8(cell[a]), F8(n.origin[a] - out_by));
    out.far[a] = fma_(load_bytes(planes[a][1 - near]), F8(cell[a]), F8(n.origin[a] + out_by));
    out.order = near ? out.order - out.near[a] : out.order + out.near[a];
  }
  return error <= coarsest;
}

RT_HD uint32_t reached_boxes(const StreamNode& n, const rt::StreamRay& r) {
  F8 enter(0.0f), leave(r.t);
  for (int a = 0; a < 3; ++a) {
    const F8 inverse(r.inverse[a]), shift(r.shift[a]);
    enter = max_(enter, fma_(n.near[a], inverse, shift));
    leave = min_(leave, fma_(n.far[a], inverse, shift));
  }
  return bits(enter <= leave);
}

// The rays whose mask has the bit of a slot, packed; returns their number.
RT_HD int pack_list(const uint32_t* list, const uint8_t* masks, int n, int slot, uint32_t* out) {
  int count = 0;
  for (int i = 0; i < n; i += kWide) {
    const uint32_t with = bytes_with(masks + i, 1u << slot);
    store_packed(out + count, load<UW>(list + i), with);
    count += __builtin_popcount(with);
  }
  return count;
}

// How rays of a stream end: with the first hit that any of them finds. The t of a ray that is blocked is negative.
struct FindAny {
  template <class Filter>
  RT_HD static void meet(rt::StreamRay& r, F8 found, uint32_t begin, uint32_t count, const Filter& filter) {
    uint32_t good = bits((found > F8(0.0f)) & (found < F8(r.t))) & ((1u << count) - 1u);
    const uint32_t own = r.self - begin;
    good &= ~(own < count ? 1u << own : 0u);
    if constexpr (Filter::kAcceptsAll) {
      r.t = good ? -1.0f : r.t;
    } else {
      for (; good; good &= good - 1)
        if (filter.accepts(begin + (uint32_t)__builtin_ctz(good))) {
          r.t = -1.0f;
          return;
        }
    }
  }
  template <class Filter>
  RT_HD static void alone(const rt::SceneView& s, uint32_t node, rt::StreamRay& r, const Filter& filter) {
    if (r.t > 0.0f && occluded_below(s, node, as_single(r), r.self, r.t, filter)) r.t = -1.0f;
  }
#if RT_IMAGES
  template <class Filter> RT_HD static void in_images(const rt::SceneView& s, rt::StreamRay& r, const Filter& filter) {
    if (image_occludes(s, origin_of(r), direction_of(r), r.self, r.t, filter)) r.t = -1.0f;
  }
#endif
};

// With the nearest hit, for equal t that of the lower leaf position.
struct FindClosest {
  template <class Filter>
  RT_HD static void meet(rt::StreamRay& r, F8 found, uint32_t begin, uint32_t count, const Filter& filter) {
    const uint32_t good = bits((found > F8(0.0f)) & (found <= F8(r.t))) & ((1u << count) - 1u);
    if (good) keep_nearest(found, good, begin, r.self, r.t, r.prim, filter);
  }
  template <class Filter>
  RT_HD static void alone(const rt::SceneView& s, uint32_t node, rt::StreamRay& r, const Filter& filter) {
    intersect_closest_below(s, node, as_single(r), r.self, r.t, r.prim, filter);
  }
#if RT_IMAGES
  template <class Filter> RT_HD static void in_images(const rt::SceneView& s, rt::StreamRay& r, const Filter& filter) {
    intersect_closest_image(s, origin_of(r), direction_of(r), r.self, r.t, r.prim, filter);
  }
#endif
};

template <class Find, class Filters>
RT_HD void meet_leaf(const rt::SceneView& s, rt::RayStream& q, const uint32_t* list, int n, uint32_t begin,
                     uint32_t count, const Filters& filters) {
  const Primitive<F8> leaf = load_primitives(s, begin);
  for (int i = 0; i < n; ++i) {
    rt::StreamRay& r = q.ray[list[i]];
    const auto filter = filters(r);
    const Primitive<F8> p = relative_to(leaf, splat3<F8>(r.origin));
    Find::meet(r, filter.nearest(p, primitive_test(p, splat3<F8>(r.direction))), begin, count, filter);
  }
}

struct StreamEntry {
  uint32_t node;
  int begin, count;  // of its list
};

// The rays of the list, which are of one octant and start within the bounds.
template <class Find, class Filters>
inline void trace_octant(const rt::SceneView& s, rt::RayStream& q, int begin, int count, int octant,
                         const StreamBounds& bounds, const Filters& filters) {
  StreamEntry stack[kMaxWaiting];
  int top = 0;
  stack[top++] = {0, begin, count};
  while (top) {
    const StreamEntry e = stack[--top];
    const rt::Node& n = s.nodes[e.node];
    const uint32_t* list = q.list + e.begin;
    int free = e.begin + e.count + kListSlack;  // lists of nodes that wait are in front of this one
    StreamNode boxes;
    if (e.count < kFewest || free + 9 * (e.count + kListSlack) > rt::kStreamLists ||
        !unpack_boxes(n, bounds, octant, boxes)) {
      for (int i = 0; i < e.count; ++i) {
        rt::StreamRay& r = q.ray[list[i]];
        Find::alone(s, e.node, r, filters(r));
      }
      continue;
    }
    uint32_t any = 0;
    for (int i = 0; i < e.count; ++i) {
      const uint32_t mask = reached_boxes(boxes, q.ray[list[i]]);
      q.mask[i] = (uint8_t)mask;
      any |= mask;
    }
    memset(q.mask + e.count, 0, kListSlack);
    for (uint32_t m = any & ~n.inner; m; m &= m - 1) {
      const int slot = __builtin_ctz(m);
      const uint32_t first = leaf_begin(n, slot), end = leaf_end(n, slot);
      const int some = pack_list(list, q.mask, e.count, slot, q.list + free);
      meet_leaf<Find>(s, q, q.list + free, some, first, end - first, filters);
    }
    alignas(32) float order[8];
    store(order, boxes.order);
    int slots[8], inner = 0;  // the nearest last
    for (uint32_t m = any & n.inner; m; m &= m - 1) {
      const int slot = __builtin_ctz(m);
      int k = inner++;
      for (; k > 0 && order[slots[k - 1]] < order[slot]; --k) slots[k] = slots[k - 1];
      slots[k] = slot;
    }
    for (int k = 0; k < inner; ++k) {
      const int some = pack_list(list, q.mask, e.count, slots[k], q.list + free);
      stack[top++] = {child_node(n, slots[k]), free, some};
      free += some + kListSlack;
    }
  }
}

// All rays of the stream; filters(ray): the filter of a ray.
template <class Find, class Filters>
inline void trace_stream(const rt::SceneView& s, rt::RayStream& q, const Filters& filters) {
  if (!s.nodes) return;
#if RT_IMAGES
  if (s.images) {
    for (int i = 0; i < q.count && !is_cancelled(s); ++i) Find::in_images(s, q.ray[i], filters(q.ray[i]));
    return;
  }
#endif
  int count[8] = {0}, at[8];
  StreamBounds bounds = {{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
  for (int i = 0; i < q.count; ++i) {
    const rt::StreamRay& r = q.ray[i];
    ++count[ray_octant(r)];
    for (int a = 0; a < 3; ++a) {
      bounds.lo[a] = min_(bounds.lo[a], r.origin[a]);
      bounds.hi[a] = max_(bounds.hi[a], r.origin[a]);
    }
  }
  int end = 0;
  for (int o = 0; o < 8; ++o) at[o] = end, end += count[o];
  for (int i = 0; i < q.count; ++i) q.sorted[at[ray_octant(q.ray[i])]++] = (uint32_t)i;
  for (int o = 0; o < 8 && !is_cancelled(s); ++o) {
    if (!count[o]) continue;
    memcpy(q.list, q.sorted + at[o] - count[o], sizeof(uint32_t) * (size_t)count[o]);
    trace_octant<Find>(s, q, 0, count[o], o, bounds, filters);
  }
}

}  // namespace RT_NS
