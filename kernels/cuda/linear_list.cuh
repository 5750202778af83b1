// Traversal without a tree: every ray is tested against every sphere. `Fetch` reads sphere i, as
// PrimitiveRecord fetch(i); all threads of a warp read the same one.
#pragma once
#include "primitive_load.cuh"
#include "../integrator/hit_filter.h"

namespace RT_NS {

template <class Fetch>
struct LinearList {
  Fetch fetch;
  uint32_t count;

  RT_DEVICE void exclude_large(uint32_t large) { count -= large; }
  RT_DEVICE Primitive<float> primitive(uint32_t prim) const { return to_primitive(fetch(prim)); }
  template <class Filter>
  RT_DEVICE void intersect_closest(Vec3<float> o, Vec3<float> d, uint32_t self, float& t, uint32_t& prim,
                                   const Filter& filter) const {
    for (uint32_t i = 0; i < count; ++i) {
      const Primitive<float> p = relative_to(primitive(i), o);
      const auto test = primitive_test(p, d);
      if (!is_reached(test) || i == self) continue;
      const float hit = filter.nearest(p, test);
      if (hit > 0.0f && (hit < t || (hit == t && i < prim)) && filter.accepts(i)) t = hit, prim = i;
    }
  }
  template <class Filter>
  RT_DEVICE bool occluded(Vec3<float> o, Vec3<float> d, uint32_t self, float t_max, const Filter& filter) const {
    for (uint32_t i = 0; i < count; ++i) {
      const Primitive<float> p = relative_to(primitive(i), o);
      const auto test = primitive_test(p, d);
      if (is_reached(test) && i != self && filter.blocks(p, test, t_max) && filter.accepts(i)) return true;
    }
    return false;
  }
};

// Records of aligned words of 16 bytes: a sphere is one.
struct VectorFetch {
  const PrimitiveRecord* spheres;
  RT_DEVICE PrimitiveRecord operator()(uint32_t i) const { return load_record(spheres + (size_t)i); }
};

}  // namespace RT_NS
