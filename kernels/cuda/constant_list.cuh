// The linear list in constant memory, for scenes that fit; larger ones are read from global memory.
#pragma once
#include "../core/structs.h"
#include "linear_list.cuh"

constexpr uint32_t kConstantSpheres = 2936 / rt::kPrimitiveWords;  // 46 KiB; the other tables take 18 of the 64
__constant__ rt::PrimitiveRecord c_spheres[kConstantSpheres];

namespace RT_NS {

struct ConstantFetch {
  RT_DEVICE PrimitiveRecord operator()(uint32_t i) const { return c_spheres[i]; }
};

struct ConstantList {
  const PrimitiveRecord* spheres;
  uint32_t count, stored;

  RT_DEVICE void exclude_large(uint32_t large) { count -= large; }
  RT_DEVICE bool fits() const { return stored <= kConstantSpheres; }
  RT_DEVICE Primitive<float> primitive(uint32_t prim) const { return to_primitive(VectorFetch{spheres}(prim)); }
  template <class Filter>
  RT_DEVICE void intersect_closest(Vec3<float> o, Vec3<float> d, uint32_t self, float& t, uint32_t& prim,
                                   const Filter& filter) const {
    if (fits())
      LinearList<ConstantFetch>{{}, count}.intersect_closest(o, d, self, t, prim, filter);
    else
      LinearList<VectorFetch>{{spheres}, count}.intersect_closest(o, d, self, t, prim, filter);
  }
  template <class Filter>
  RT_DEVICE bool occluded(Vec3<float> o, Vec3<float> d, uint32_t self, float t_max, const Filter& filter) const {
    if (fits()) return LinearList<ConstantFetch>{{}, count}.occluded(o, d, self, t_max, filter);
    return LinearList<VectorFetch>{{spheres}, count}.occluded(o, d, self, t_max, filter);
  }
};

RT_DEVICE ConstantList constant_list(const rt::RenderArgs& args) {
  return {(const PrimitiveRecord*)args.spheres, (uint32_t)args.sphere_count, (uint32_t)args.sphere_count};
}

}  // namespace RT_NS
