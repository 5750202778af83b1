// A walk without a tree: every ray is tested against every sphere. `Fetch` says how sphere i is read, as
// float4 fetch(i) with centre and radius; all threads of a warp ask for the same one.
#pragma once
#include "../geom/sphere.h"

namespace RT_NS {

template <class Fetch>
struct LinearList {
  Fetch fetch;
  uint32_t count;

  RT_DEVICE void leave_out(uint32_t large) { count -= large; }
  RT_DEVICE float4 sphere(uint32_t prim) const { return fetch(prim); }
  RT_DEVICE void closest(Vec3<float> o, Vec3<float> d, uint32_t self, float& t, uint32_t& prim) const {
    for (uint32_t i = 0; i < count; ++i) {
      float4 s = fetch(i);
      Chord<float> c = sphere_chord(vec3(s.x, s.y, s.z) - o, s.w, d);
      if (c.half2 < 0.0f || i == self) continue;
      float found = sphere_nearest(c, s.w);
      if (found > 0.0f && (found < t || (found == t && i < prim))) t = found, prim = i;
    }
  }
  RT_DEVICE bool blocked(Vec3<float> o, Vec3<float> d, uint32_t self, float t_max) const {
    for (uint32_t i = 0; i < count; ++i) {
      float4 s = fetch(i);
      Chord<float> c = sphere_chord(vec3(s.x, s.y, s.z) - o, s.w, d);
      if (c.half2 >= 0.0f && i != self && sphere_blocks(c, s.w, t_max)) return true;
    }
    return false;
  }
};

// a sphere as one aligned word of 16 bytes
struct VectorFetch {
  const float4* spheres;
  RT_DEVICE float4 operator()(uint32_t i) const { return __ldg(spheres + (size_t)i); }
};

}  // namespace RT_NS
