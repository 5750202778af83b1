// One ray against the tree: eight child boxes, then up to eight primitives, a vector at a time.
#pragma once
#include "../bvh/node.h"
#include "../geom/large_sphere.h"
#include "../integrator/hit_filter.h"
#include "primitive_load.h"

namespace RT_NS {

RT_HD uint32_t child_node(const rt::Node& n, int slot) {
  return n.child_base + (uint32_t)__builtin_popcount(n.inner & ((1u << slot) - 1));
}

struct SingleRay {
  float origin[3], direction[3], inverse[3];
  int near[3];  // 0: the low side is met first
};

RT_HD SingleRay single_ray(Vec3<float> o, Vec3<float> d) {
  SingleRay r = {{o.x, o.y, o.z}, {d.x, d.y, d.z}, {}, {}};
  for (int a = 0; a < 3; ++a) {
    r.near[a] = r.direction[a] < 0.0f;
    r.inverse[a] = safe_inverse(r.direction[a]);
  }
  return r;
}

struct BoxHits {
  F8 entry;
  uint32_t mask;
};

RT_HD BoxHits intersect_boxes(const rt::Node& n, const SingleRay& r, float t_max) {
  const uint8_t* planes[3][2] = {{n.lo_x, n.hi_x}, {n.lo_y, n.hi_y}, {n.lo_z, n.hi_z}};
  float rel[3], cell[3], reach = 0.0f;
  for (int a = 0; a < 3; ++a) {
    rel[a] = n.origin[a] - r.origin[a];
    cell[a] = node_cell(n, a);
    reach = max_(reach, abs_(rel[a]) + 255.0f * cell[a]);
  }
  float error = kBoxError * reach;
  F8 enter(0.0f), leave(t_max);
  for (int a = 0; a < 3; ++a) {
    float out = r.near[a] ? -error : error;
    F8 step(cell[a] * r.inverse[a]);
    F8 t0 = fma_(load_bytes(planes[a][r.near[a]]), step, F8((rel[a] - out) * r.inverse[a]));
    F8 t1 = fma_(load_bytes(planes[a][1 - r.near[a]]), step, F8((rel[a] + out) * r.inverse[a]));
    enter = max_(enter, t0);
    leave = min_(leave, t1);
  }
  return {enter, bits(enter <= leave)};
}

// t of the nearest hit in the primitives of one slot, as eight lanes; negative: none
template <class Filter>
RT_HD F8 intersect_leaf(const rt::SceneView& s, uint32_t begin, const SingleRay& r, const Filter& filter) {
  const Primitive<F8> p = relative_to(load_primitives(s, begin), splat3<F8>(r.origin));
  return filter.nearest(p, primitive_test(p, splat3<F8>(r.direction)));
}

// The nearest of the hits `found` in the lanes `good`, primitives from `begin` on, if it is nearer than t; for equal t
// the lower leaf position.
template <class Filter>
RT_HD void keep_nearest(F8 found, uint32_t good, uint32_t begin, uint32_t self, float& t, uint32_t& prim,
                        const Filter& filter) {
  alignas(32) float lane[8];
  store(lane, found);
  for (; good; good &= good - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(good), p = begin + k;
    if (p != self && (lane[k] < t || (lane[k] == t && p < prim)) && filter.accepts(p)) t = lane[k], prim = p;
  }
}

// As intersect_closest, in the tree below a node.
template <class Filter>
RT_HD void intersect_closest_below(const rt::SceneView& s, uint32_t root, const SingleRay& ray, uint32_t self, float& t,
                                   uint32_t& prim, const Filter& filter) {
  struct Entry {
    uint32_t node;
    float t;
  } stack[kMaxWaiting];
  int top = 0;
  stack[top++] = {root, 0.0f};
  while (top) {
    Entry e = stack[--top];
    if (e.t > t) continue;
    const rt::Node& n = s.nodes[e.node];
    BoxHits hits = intersect_boxes(n, ray, t);
    alignas(32) float entry[8];
    store(entry, hits.entry);
    int first = top;
    for (uint32_t m = hits.mask; m; m &= m - 1) {
      int i = __builtin_ctz(m);
      if (n.inner >> i & 1) {
        Entry c = {child_node(n, i), entry[i]};
        int k = top++;
        for (; k > first && stack[k - 1].t < c.t; --k) stack[k] = stack[k - 1];
        stack[k] = c;
      } else {
        uint32_t begin = leaf_begin(n, i), count = leaf_end(n, i) - begin;
        F8 found = intersect_leaf(s, begin, ray, filter);
        uint32_t good = bits((found > F8(0.0f)) & (found <= F8(t))) & ((1u << count) - 1u);
        if (good) keep_nearest(found, good, begin, self, t, prim, filter);
      }
    }
  }
}

#if RT_IMAGES
// Nearest hit in the images of a scene; not inlined, because few scenes have any.
template <class Filter>
RT_COLD void intersect_closest_image(const rt::SceneView& s, Vec3<float> o, Vec3<float> d, uint32_t self, float& t,
                                     uint32_t& prim, const Filter& filter) {
  const auto trace = [&](uint32_t image, Vec3<float> origin, uint32_t own, float& nearest, uint32_t& row) {
    intersect_closest_below(s, 0, single_ray(origin, d), own, nearest, row, filter_in_image(filter, image));
  };
  images_intersect_closest(*s.images, o, d, self, t, prim, trace);
}
#endif

// Nearest hit with t < t; for equal t the lower leaf position, independent of the order of traversal.
// `self` is not tested, nor what the filter leaves out.
template <class Filter>
RT_HD void intersect_closest(const rt::SceneView& s, Vec3<float> o, Vec3<float> d, uint32_t self, float& t,
                             uint32_t& prim, const Filter& filter) {
  if (!s.nodes) return;
  large_intersect_closest<float>(s.large, s.frame->scene.large_count, o, d, self, t, prim, filter);
#if RT_IMAGES
  if (s.images) return intersect_closest_image(s, o, d, self, t, prim, filter);
#endif
  intersect_closest_below(s, 0, single_ray(o, d), self, t, prim, filter);
}

// As occluded, in the tree below a node.
template <class Filter>
RT_HD bool occluded_below(const rt::SceneView& s, uint32_t root, const SingleRay& ray, uint32_t self, float t_max,
                          const Filter& filter) {
  uint32_t stack[kMaxWaiting];
  int top = 0;
  stack[top++] = root;
  while (top) {
    const rt::Node& n = s.nodes[stack[--top]];
    for (uint32_t m = intersect_boxes(n, ray, t_max).mask; m; m &= m - 1) {
      int i = __builtin_ctz(m);
      if (n.inner >> i & 1) {
        stack[top++] = child_node(n, i);
      } else {
        uint32_t begin = leaf_begin(n, i), count = leaf_end(n, i) - begin;
        F8 found = intersect_leaf(s, begin, ray, filter);
        uint32_t good = bits((found > F8(0.0f)) & (found < F8(t_max))) & ((1u << count) - 1u);
        if (self - begin < count) good &= ~(1u << (self - begin));
        if constexpr (Filter::kAcceptsAll) {
          if (good) return true;
        } else {
          for (; good; good &= good - 1)
            if (filter.accepts(begin + (uint32_t)__builtin_ctz(good))) return true;
        }
      }
    }
  }
  return false;
}

#if RT_IMAGES
template <class Filter>
RT_COLD bool image_occludes(const rt::SceneView& s, Vec3<float> o, Vec3<float> d, uint32_t self, float t_max,
                            const Filter& filter) {
  return images_occlude(*s.images, o, d, self, t_max, [&](uint32_t image, Vec3<float> origin, uint32_t own) {
    return occluded_below(s, 0, single_ray(origin, d), own, t_max, filter_in_image(filter, image));
  });
}
#endif

// Whether anything in the tree except `self` that the filter accepts is in (0, t_max).
template <class Filter>
RT_HD bool occluded(const rt::SceneView& s, Vec3<float> o, Vec3<float> d, uint32_t self, float t_max,
                    const Filter& filter) {
#if RT_IMAGES
  if (s.images && s.nodes) return image_occludes(s, o, d, self, t_max, filter);
#endif
  return s.nodes && occluded_below(s, 0, single_ray(o, d), self, t_max, filter);
}

}  // namespace RT_NS
