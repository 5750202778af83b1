// A path through the scene, one thread (CUDA): surfaces, lights and mirrors from the camera ray's first
// hit on. How rays find spheres is the walk's: a template argument with
//   float4 sphere(prim)                    centre and radius
//   void closest(o, d, self, t, prim)      nearest hit before t, but `self`
//   bool blocked(o, d, self, t_max)        is anything but `self` in (0, t_max)?
#pragma once
#include "../bvh/node.h"
#include "../shade/background.h"
#include "../integrator/camera.h"
#include "../integrator/integrator.h"

namespace RT_NS {

// the scene without its geometry: looks in device memory, the rest in constant memory
struct PathScene {
  const int32_t* order;
  const float* color;
  const int32_t* color_id;
  const int32_t* material_id;
  const rt::Camera* camera;
  const rt::Light* lights;
  const rt::Material* materials;
  const rt::LargeSphere* large;
  const rt::Frame* frame;
};

RT_DEVICE PathScene path_scene(const rt::RenderArgs& a, const rt::Camera& camera, const rt::Light* lights,
                               const rt::Material* materials, const rt::LargeSphere* large, const rt::Frame& frame) {
  return {(const int32_t*)a.order, (const float*)a.color, (const int32_t*)a.color_id, (const int32_t*)a.material_id,
          &camera, lights, materials, large, &frame};
}

// This thread's pixel of a warp's tile; threads beyond the picture's edge go along with a pixel inside.
struct TilePixel {
  int x, y;
  size_t film;  // place in the film
  bool inside;
};

RT_DEVICE TilePixel tile_pixel(const rt::RenderArgs& args, const rt::Frame& frame, int tile) {
  const int lane = threadIdx.x & 31;
  int x = frame.x0 + tile % args.tiles_x * 8 + (lane & 7), y = frame.y0 + tile / args.tiles_x * 4 + (lane >> 3);
  const bool inside = x < frame.x1 && y < frame.y1;
  x = min(x, frame.x1 - 1), y = min(y, frame.y1 - 1);
  return {x, y, (size_t)(y - frame.y0) * (size_t)(frame.x1 - frame.x0) + (size_t)(x - frame.x0), inside};
}

// Nearest hit before t, but `self`.
template <class Walk>
RT_DEVICE void path_closest(const PathScene& s, const Walk& walk, const Ray<float>& ray, uint32_t self, float& t, uint32_t& prim) {
  large_closest<float>(s.large, s.frame->large_count, ray.origin, ray.direction, self, t, prim);
  walk.closest(ray.origin, ray.direction, self, t, prim);
}

// Is anything but `self` in (0, t_max)?
template <class Walk>
RT_DEVICE bool path_blocked(const PathScene& s, const Walk& walk, Vec3<float> o, Vec3<float> d, uint32_t self, float t_max) {
  if (s.frame->large_count && large_any<float>(s.large, s.frame->large_count, o, d, self, t_max)) return true;
  return walk.blocked(o, d, self, t_max);
}

RT_DEVICE Surface<float> path_surface(const PathScene& s, float4 c, uint32_t prim, Vec3<float> o, Vec3<float> d) {
  Surface<float> f;
  f.radius = c.w;
  f.point = surface_point<float>(s.large, s.frame->large_count, prim, vec3(c.x, c.y, c.z), c.w, o, d);
  f.albedo = splat3<float>(s.color);
  if (s.frame->color_mode != 0 || s.frame->material_mode != 0) {
    int32_t sphere = __ldg(s.order + (size_t)prim);
    if (s.frame->color_mode != 0) {
      const float* rgb = s.color + 3 * (size_t)(s.frame->color_mode == 1 ? sphere : __ldg(s.color_id + sphere));
      f.albedo = vec3(__ldg(rgb), __ldg(rgb + 1), __ldg(rgb + 2));
    }
    const rt::Material& m = s.materials[s.frame->material_mode == 0 ? 0 : __ldg(s.material_id + sphere)];
    f.material = {m.ambient, m.diffuse, m.specular, m.shininess, m.mirror};
  } else {
    const rt::Material& m = s.materials[0];
    f.material = {m.ambient, m.diffuse, m.specular, m.shininess, m.mirror};
  }
  return f;
}

// What the lights send to a surface; asks for shadow rays one light at a time.
template <class Walk>
RT_DEVICE Vec3<float> direct_light(const PathScene& s, const Walk& walk, const Surface<float>& f, uint32_t prim, Vec3<float> d,
                                   float throughput, Vec3<float> radiance) {
  for (int i = 0; i < s.frame->light_count; ++i) {
    LightArrival<float> a = light_arrival(s.lights[i], f, d, throughput);
    if (!a.faces) continue;
    if (s.frame->shadows && (a.own_shadow || path_blocked(s, walk, f.point.position, a.sample.wi, prim, a.sample.distance))) continue;
    radiance = radiance + a.radiance;
  }
  return radiance;
}

// Radiance along a camera ray whose first hit is known, and coverage: 1 if there is one. An opaque background
// is in the radiance and not in the coverage: the film's development knows of it (film/develop.h).
template <class Walk>
RT_DEVICE float4 trace_path(const PathScene& s, const Walk& walk, Ray<float> ray, uint32_t prim, float row_height) {
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  float throughput = 1.0f;
  const float alpha = prim != kNoPrim ? 1.0f : 0.0f;
  for (int depth = 0;; ++depth) {
    if (prim == kNoPrim) {
      float height = depth == 0 ? row_height : background_height_direction(*s.frame, ray.direction);
      radiance = radiance + throughput * background(*s.frame, height);
      break;
    }
    Surface<float> f = path_surface(s, walk.sphere(prim), prim, ray.origin, ray.direction);
    radiance = radiance + ambient_radiance(*s.frame, f, throughput);
    radiance = direct_light(s, walk, f, prim, ray.direction, throughput, radiance);
    if (!(f.material.mirror > 0.0f) || depth >= s.frame->max_depth) break;
    throughput = throughput * f.material.mirror;
    MirrorRay<float> m = mirror_ray(f, ray.direction);
    uint32_t self = prim;
    float t = f.point.inside ? m.own_t : kInfinity;
    prim = f.point.inside ? prim : kNoPrim;
    ray = {m.origin, m.direction};
    path_closest(s, walk, ray, self, t, prim);
  }
  return make_float4(radiance.x, radiance.y, radiance.z, alpha);
}

}  // namespace RT_NS
