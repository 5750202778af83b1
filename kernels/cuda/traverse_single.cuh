// Single-ray traversal by a thread (CUDA).
#pragma once
#include "primitive_load.cuh"
#include "../bvh/node.h"
#include "../integrator/hit_filter.h"

namespace RT_NS {

// Whether rays that any hit ends go first into the child in whose box they are longest, which most likely stops them.
// That pays for boxes around capsules, which are mostly empty, and for occlusion rays, which have no end.
constexpr bool kLongestFirst = RT_SOLIDS || (RT_INTEGRATORS && !RT_FULL_SHADING);

// Where a ray enters a box, at 0 at the earliest, and where it leaves it, from the slabs of the three axes.
#if __CUDA_ARCH__ >= 900
// As integers, of which one instruction takes three: floats that are not negative have the order of their bits, and the
// bits of any negative one, as an integer, are below all of these.
RT_DEVICE float slabs_begin(float x, float y, float z) {
  return __int_as_float(__vimax3_s32_relu(__float_as_int(x), __float_as_int(y), __float_as_int(z)));
}
RT_DEVICE float slabs_end(float x, float y, float z, float t_max) {
  return __int_as_float(
      __vimin3_s32(__float_as_int(x), __float_as_int(y), min(__float_as_int(z), __float_as_int(t_max))));
}
RT_DEVICE bool is_entered(float begin, float end) { return __float_as_int(begin) <= __float_as_int(end); }
#else
RT_DEVICE float slabs_begin(float x, float y, float z) { return max_(max_(x, y), max_(z, 0.0f)); }
RT_DEVICE float slabs_end(float x, float y, float z, float t_max) { return min_(min_(x, y), min_(z, t_max)); }
RT_DEVICE bool is_entered(float begin, float end) { return begin <= end; }
#endif

// Whether nearest hits test two spheres of a leaf at a time, so that the second one is loaded before the first one has
// come: not where larger records or rays that stop at other things take the registers.
constexpr bool kTestsPairs = !RT_SOLIDS && !(RT_FULL_SHADING && RT_ALPHA_CLIP);

// Whether the first entries of the stack of a nearest hit are in shared memory, in that of the packets, which is free
// then: the first cache is left to nodes and primitives. Rays that stop at other things have no registers for it.
#define RT_SHARED_STACK (RT_FULL_SHADING && !RT_SOLIDS && !RT_ALPHA_CLIP)

struct ThreadRay {
  Vec3<float> origin, direction, inverse;
};

RT_DEVICE ThreadRay thread_ray(Vec3<float> o, Vec3<float> d) {
  return {o, d, vec3(safe_inverse(d.x), safe_inverse(d.y), safe_inverse(d.z))};
}

RT_DEVICE float byte_of(uint32_t word, int i) { return (float)(word >> 8 * i & 255u); }

// Slots of a node, as bits, whose boxes the ray enters before t_max.
struct ThreadHits {
  uint32_t mask, inner, child_base, sphere_base, ends_lo, ends_hi;
};

template <class Visit>
RT_DEVICE ThreadHits intersect_boxes(const rt::Node* nodes, uint32_t index, const ThreadRay& r, float t_max,
                                     Visit entered) {
  const uint4* p = (const uint4*)(nodes + (size_t)index);
  const uint4 head = __ldg(p), tail = __ldg(p + 1), x = __ldg(p + 2), y = __ldg(p + 3), z = __ldg(p + 4);
  Vec3<float> rel = vec3(__uint_as_float(head.x), __uint_as_float(head.y), __uint_as_float(head.z)) - r.origin;
  Vec3<float> cell = vec3(__uint_as_float((head.w & 255u) << 23), __uint_as_float((head.w >> 8 & 255u) << 23),
                          __uint_as_float((head.w >> 16 & 255u) << 23));
  const float error = kBoxError * max_(fma_(255.0f, cell.x, abs_(rel.x)),
                                       max_(fma_(255.0f, cell.y, abs_(rel.y)), fma_(255.0f, cell.z, abs_(rel.z))));
  bool back_x = r.direction.x < 0.0f, back_y = r.direction.y < 0.0f, back_z = r.direction.z < 0.0f;
  Vec3<float> step = cell * r.inverse;
  const Vec3<float> corner = rel * r.inverse;
  const Vec3<float> slack = vec3(abs_(r.inverse.x), abs_(r.inverse.y), abs_(r.inverse.z));
  const Vec3<float> near = fma3(-error, slack, corner), far = fma3(error, slack, corner);
  // words 0, 1: low sides of slots 0-3, 4-7; words 2, 3: high sides
  const uint32_t nx[2] = {back_x ? x.z : x.x, back_x ? x.w : x.y}, fx[2] = {back_x ? x.x : x.z, back_x ? x.y : x.w};
  const uint32_t ny[2] = {back_y ? y.z : y.x, back_y ? y.w : y.y}, fy[2] = {back_y ? y.x : y.z, back_y ? y.y : y.w};
  const uint32_t nz[2] = {back_z ? z.z : z.x, back_z ? z.w : z.y}, fz[2] = {back_z ? z.x : z.z, back_z ? z.y : z.w};
  uint32_t mask = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    int h = i >> 2, b = i & 3;
    const float begin = slabs_begin(fma_(byte_of(nx[h], b), step.x, near.x), fma_(byte_of(ny[h], b), step.y, near.y),
                                    fma_(byte_of(nz[h], b), step.z, near.z));
    const float end = slabs_end(fma_(byte_of(fx[h], b), step.x, far.x), fma_(byte_of(fy[h], b), step.y, far.y),
                                fma_(byte_of(fz[h], b), step.z, far.z), t_max);
    if (is_entered(begin, end)) mask |= 1u << i, entered(i, begin, end);
  }
  return {mask, head.w >> 24, tail.x, tail.y, tail.z, tail.w};
}

RT_DEVICE uint32_t slot_end(const ThreadHits& h, int slot) { return __byte_perm(h.ends_lo, h.ends_hi, slot) & 255u; }
RT_DEVICE uint32_t slot_begin(const ThreadHits& h, int slot) {
  return __byte_perm(h.ends_lo << 8, __funnelshift_l(h.ends_lo, h.ends_hi, 8), slot) & 255u;
}

// The primitives in some leaves of a node as one sequence: with a loop per slot, lanes wait for the longest of each.
struct LeafWalk {
  uint32_t slots, at, end;

  // whether there is one at `at`
  RT_DEVICE bool has_next(const ThreadHits& h) {
    while (at == end && slots) {
      const int slot = __ffs(slots) - 1;
      at = h.sphere_base + slot_begin(h, slot), end = h.sphere_base + slot_end(h, slot);
      slots &= slots - 1;
    }
    return at != end;
  }
};

// Whether anything except `self` in the leaves that the ray enters is in (0, t_max).
template <class Filter>
RT_DEVICE bool leaves_occlude(const ThreadHits& h, const PrimitiveRecord* records, Vec3<float> o, Vec3<float> d,
                              uint32_t self, float t_max, const Filter& filter) {
#if RT_SOLIDS
  LeafWalk walk = {h.mask & ~h.inner, 0, 0};
  while (walk.has_next(h)) {
    // until each lane has a primitive that its ray reaches; the rest of the test they do together
    Primitive<float> p;
    uint32_t at;
    bool reached;
    do {
      at = walk.at++;
      p = relative_to(load_primitive(records, (size_t)at), o);
      reached = at != self && may_reach(p, d);
    } while (!reached && walk.has_next(h));
    if (reached && filter.blocks(p, primitive_test(p, d), t_max) && filter.accepts(at)) return true;
  }
#else
  for (uint32_t m = h.mask & ~h.inner; m;) {
    const int slot = 31 - __clz((int)m);
    m &= ~(1u << slot);
    uint32_t end = h.sphere_base + slot_end(h, slot);
    for (uint32_t at = h.sphere_base + slot_begin(h, slot); at < end; ++at) {
      const Primitive<float> p = relative_to(load_primitive(records, (size_t)at), o);
      const auto test = primitive_test(p, d);
      if (is_reached(test) && at != self && filter.blocks(p, test, t_max) && filter.accepts(at)) return true;
    }
  }
#endif
  return false;
}

// Whether anything except `self` is in (0, t_max). One stack entry holds all pending children of a node.
template <class Filter>
RT_DEVICE bool thread_occluded(const rt::Node* nodes, const PrimitiveRecord* records, Vec3<float> o, Vec3<float> d,
                               uint32_t self, float t_max, const Filter& filter) {
  ThreadRay ray = thread_ray(o, d);
  uint2 stack[kMaxLevels];  // one entry per level: base of the children; pending slots | inner slots << 8
  int top = 0;
  uint32_t node = 0;
  for (;;) {
    // length of the longest part of the ray in a box, where something is in the way most likely; and the box's slot
    uint32_t longest = 0;
    ThreadHits h = intersect_boxes(nodes, node, ray, t_max, [&](int i, float t0, float t1) {
      if (kLongestFirst) longest = max(longest, (__float_as_uint(t1 - t0) & ~7u) | (uint32_t)i);
    });
    if (leaves_occlude(h, records, o, d, self, t_max, filter)) return true;
    uint32_t visit = h.mask & h.inner;
    uint2 group = make_uint2(h.child_base, visit | h.inner << 8);
    if (!visit) {
      if (top == 0) return false;
      group = stack[--top];
    }
    uint32_t slot = __ffs(group.y & 255u) - 1, rest = group.y & (group.y - 1);
    if (kLongestFirst && (visit >> (longest & 7u) & 1u)) slot = longest & 7u, rest = group.y & ~(1u << slot);
    if (rest & 255u) stack[top++] = make_uint2(group.x, rest);
    node = group.x + __popc(group.y >> 8 & ~(~0u << slot));
  }
}

// A child that waits, and where the ray enters it.
struct alignas(8) StackEntry {
  uint32_t node;
  float t;
};

constexpr int kSharedEntries = RT_SHARED_STACK ? 8 : 0;

// An entry of a stack, the first kSharedEntries of which are in shared memory, those of a lane 32 apart. Not members of one
// struct: the compiler would keep the pointer in local memory, and not know of which memory it is.
RT_DEVICE StackEntry stack_entry(const StackEntry* shared, const StackEntry* local, int i) {
  return i < kSharedEntries ? shared[32 * i] : local[i - kSharedEntries];
}
RT_DEVICE void set_stack_entry(StackEntry* shared, StackEntry* local, int i, StackEntry e) {
  if (i < kSharedEntries)
    shared[32 * i] = e;
  else
    local[i - kSharedEntries] = e;
}

// Nearest hit with t < t except `self`; for equal t the lower leaf position. shared: memory of stack_entry
template <class Filter>
RT_DEVICE void thread_intersect_closest(const rt::Node* nodes, const PrimitiveRecord* records, Vec3<float> o,
                                        Vec3<float> d, uint32_t self, float& t, uint32_t& prim, const Filter& filter,
                                        StackEntry* shared) {
  ThreadRay ray = thread_ray(o, d);
  StackEntry local[kMaxWaiting - kSharedEntries];
  int top = 0;
  uint32_t node = 0;
  for (;;) {
    float entry[8];
    ThreadHits h = intersect_boxes(nodes, node, ray, t, [&](int i, float e, float) { entry[i] = e; });
    int first = top;
    for (uint32_t m = h.mask & h.inner; m;) {
      const int slot = 31 - __clz((int)m);
      m &= ~(1u << slot);
      const StackEntry e = {h.child_base + __popc(h.inner & ~(~0u << slot)), entry[slot]};
      int k = top++;
      for (; k > first; --k) {
        const StackEntry nearer = stack_entry(shared, local, k - 1);
        if (nearer.t >= e.t) break;
        set_stack_entry(shared, local, k, nearer);
      }
      set_stack_entry(shared, local, k, e);
    }
    // One loop over the primitives of all slots: with a loop per slot, lanes wait for the longest of each slot.
    uint32_t leaves = h.mask & ~h.inner, row = 0, end = 0;
    for (;;) {
      if (row == end) {
        if (!leaves) break;
        const int slot = 31 - __clz((int)leaves);
        leaves &= ~(1u << slot);
        row = h.sphere_base + slot_begin(h, slot), end = h.sphere_base + slot_end(h, slot);
      }
      const uint32_t next = kTestsPairs ? min(row + 1, end - 1) : row;
      const Primitive<float> pair[2] = {load_primitive(records, (size_t)row), load_primitive(records, (size_t)next)};
      const auto test = [&](const Primitive<float>& primitive, uint32_t at) {
        if (at == self) return;
        const Primitive<float> p = relative_to(primitive, o);
        const auto line = primitive_test(p, d);
        if (!is_reached(line)) return;  // the root that nearest takes is a dozen instructions
        const float hit = filter.nearest(p, line);
        if (hit > 0.0f && (hit < t || (hit == t && at < prim)) && filter.accepts(at)) t = hit, prim = at;
      };
      test(pair[0], row);
      if (next != row) test(pair[1], next);
      row = next + 1;
    }
    StackEntry next;
    do {
      if (top == 0) return;
      next = stack_entry(shared, local, --top);
    } while (next.t > t);
    node = next.node;
  }
}

// The tree as a traversal for path.cuh.
struct WideTree {
  const rt::Node* nodes;
  const PrimitiveRecord* records;
  StackEntry* shared = nullptr;  // memory of stack_entry

  RT_DEVICE void exclude_large(uint32_t) {}  // done by the builder
  RT_DEVICE Primitive<float> primitive(uint32_t prim) const { return load_primitive(records, (size_t)prim); }
  template <class Filter>
  RT_DEVICE void intersect_closest(Vec3<float> o, Vec3<float> d, uint32_t self, float& t, uint32_t& prim,
                                   const Filter& filter) const {
    thread_intersect_closest(nodes, records, o, d, self, t, prim, filter, shared);
  }
  template <class Filter>
  RT_DEVICE bool occluded(Vec3<float> o, Vec3<float> d, uint32_t self, float t_max, const Filter& filter) const {
    return thread_occluded(nodes, records, o, d, self, t_max, filter);
  }
};

#if RT_IMAGES
// The tree of one cell, which a ray walks anew for each image (bvh/images.h).
struct ImageTree : WideTree {
  const rt::ImageLattice* images;

  RT_DEVICE Primitive<float> primitive(uint32_t prim) const {
    const Vec3<float> vector = image_vector<float>(*images, image_steps(*images, prim));
    return relative_to(WideTree::primitive(leaf_position(*images, prim)), -1.0f * vector);
  }
  template <class Filter>
  RT_DEVICE void intersect_closest(Vec3<float> o, Vec3<float> d, uint32_t self, float& t, uint32_t& prim,
                                   const Filter& filter) const {
    const auto trace = [&](uint32_t image, Vec3<float> origin, uint32_t own, float& nearest, uint32_t& row) {
      WideTree::intersect_closest(origin, d, own, nearest, row, filter_in_image(filter, image));
    };
    images_intersect_closest(*images, o, d, self, t, prim, trace);
  }
  template <class Filter>
  RT_DEVICE bool occluded(Vec3<float> o, Vec3<float> d, uint32_t self, float t_max, const Filter& filter) const {
    return images_occlude(*images, o, d, self, t_max, [&](uint32_t image, Vec3<float> origin, uint32_t own) {
      return WideTree::occluded(origin, d, own, t_max, filter_in_image(filter, image));
    });
  }
};
using SceneTree = ImageTree;
RT_DEVICE SceneTree scene_tree(const rt::RenderArgs& a, const PrimitiveRecord* records) {
  return {{(const rt::Node*)a.nodes, records}, (const rt::ImageLattice*)a.images};
}
#else
using SceneTree = WideTree;
RT_DEVICE SceneTree scene_tree(const rt::RenderArgs& a, const PrimitiveRecord* records) {
  return {(const rt::Node*)a.nodes, records};
}
#endif

}  // namespace RT_NS
