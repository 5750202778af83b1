// How far the surfaces of spheres are exposed, by points drawn on each: how many lie in no other primitive (accessible
// surface: Shrake, Rupley 1973), from how many of these a ray with the density of a cosine meets nothing within a
// distance (ambient occlusion: Zhukov, Iones, Kronin 1998), and from how many nothing is between the point and the
// camera. All primitives are opaque and whole here.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// points of a sphere, out of Sampler::sample_count. open: of those exposed; visible: from the camera
#define RT_FIELDS_Exposure(F) F(int32_t, exposed, 1) F(int32_t, open, 1) F(int32_t, visible, 1) F(int32_t, pad, 1)

#elif !defined(RT_INTEGRATOR_EXPOSURE_H)
#define RT_INTEGRATOR_EXPOSURE_H
#include "camera.h"
#include "hit_filter.h"

namespace RT_NS {

constexpr float kPointReach = 1e-20f;  // length of a ray that stands for its origin

// A filter by which the primitives that contain the origin of a ray block it, and no others.
struct ContainingHits : AllHits {
  template <class F, class Test> RT_HD F nearest(const Primitive<F>& p, const Test& test) const {
    const Interval<F> inside = primitive_interval(p, test);
    const MaskOf<F> contains = is_reached(test) & (inside.near < F(0.0f)) & (inside.far > F(0.0f));
    return select(contains, F(0.5f * kPointReach), F(-1.0f));
  }
  template <class F, class Test> RT_HD MaskOf<F> blocks(const Primitive<F>& p, const Test& test, F) const {
    return nearest(p, test) > F(0.0f);
  }
  template <class F> RT_HD F nearest_large(const rt::LargeSphere& s, Vec3<F> origin, Vec3<F>) const {
    return select(large_height(s, origin) < F(0.0f), F(0.5f * kPointReach), F(-1.0f));
  }
};

// Whether anything but the primitive `self` blocks the segment (0, t_max) of a ray. tree: has `occluded`, as of WideTree
template <class Tree, class Filter>
RT_HD bool is_blocked(const Tree& tree, const rt::SceneTables& s, Vec3<float> origin, Vec3<float> direction,
                      uint32_t self, float t_max, const Filter& filter) {
  const int large = s.frame->scene.large_count;
  if (large && large_occluded<float>(s.large, large, origin, direction, self, t_max, filter)) return true;
  return tree.occluded(origin, direction, self, t_max, filter);
}

// Whether the camera and a point of a surface see each other.
template <class Tree>
RT_HD bool sees_camera(const Tree& tree, const rt::SceneTables& s, Vec3<float> point, Vec3<float> normal,
                       uint32_t self) {
  const rt::Camera& camera = *s.camera;
  Vec3<float> to_camera = -1.0f * splat3<float>(camera.forward);
  float distance = kInfinity;
  if (camera.kind != kCameraOrthographic) {
    const Vec3<float> way = splat3<float>(camera.origin) - point;
    distance = sqrt_(dot(way, way));
    to_camera = (1.0f / max_(distance, 1e-30f)) * way;
  }
  return dot(to_camera, normal) > 0.0f && !is_blocked(tree, s, point, to_camera, self, distance, AllHits());
}

// Counts of the points first, first + step, ... of the sphere that is the primitive `self`. number: seeds its points
template <class Tree>
RT_HD rt::Exposure exposure_of(const Tree& tree, const rt::SceneTables& s, const Sphere<float>& sphere, uint32_t self,
                               uint32_t number, int first, int step) {
  const rt::Sampler& sampler = s.frame->sampler;
  rt::Exposure counts = {};
  for (int i = first; i < sampler.sample_count; i += step) {
    const Sample2d<float> at = sample_2d<float>(sampler.seed, number, 0u, (uint32_t)i, 0, kUseFilter);
    const SinCos<float> phi = sincos_turns(at.v);
    const float z = fma_(-2.0f, at.u, 1.0f), radius = 2.0f * sqrt_(max_(at.u - at.u * at.u, 0.0f));
    const Vec3<float> normal = normalize(vec3(radius * phi.cos, radius * phi.sin, z));
    const Vec3<float> point = fma3(sphere.radius + surface_error(sphere.center, sphere.radius), normal, sphere.center);
    if (is_blocked(tree, s, point, normal, self, kPointReach, ContainingHits())) continue;
    const Sample2d<float> turn = sample_2d<float>(sampler.seed, number, 0u, (uint32_t)i, 0, kUseBsdf);
    const Vec3<float> wi = cosine_hemisphere(normal, turn);
    ++counts.exposed;
    counts.open += !is_blocked(tree, s, point, wi, self, s.frame->integrator.ao_distance, AllHits());
    counts.visible += sees_camera(tree, s, point, normal, self);
  }
  return counts;
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_EXPOSURE_H
