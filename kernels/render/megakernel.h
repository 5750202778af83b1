// The body of a CUDA render kernel: a warp renders a tile of 8 x 4 pixels, a thread its pixel, sample
// after sample in ascending order, so that a film does not show how its samples were cut into launches.
#pragma once
#include "../bvh/thread_walk.h"
#include "../bvh/warp_walk.h"
#include "camera.h"
#include "integrator.h"

namespace RT_NS {

// the scene as the kernel sees it: arrays in device memory, the rest in constant memory
struct DeviceScene {
  const rt::Node* nodes;
  SphereSource spheres;
  const int32_t* order;
  const float* color;
  const int32_t* color_id;
  const int32_t* material_id;
  const rt::Camera* camera;
  const rt::Light* lights;
  const rt::Material* materials;
  const rt::Frame* frame;
};

RT_DEVICE DeviceScene device_scene(const rt::RenderArgs& a, const rt::Camera& camera, const rt::Light* lights,
                                   const rt::Material* materials, const rt::Frame& frame, const float4* spheres,
                                   int64_t constant_spheres) {
  SphereSource source = {(const float4*)a.spheres, a.sphere_count <= constant_spheres ? spheres : nullptr};
  return {(const rt::Node*)a.nodes, source, (const int32_t*)a.order, (const float*)a.color,
          (const int32_t*)a.color_id, (const int32_t*)a.material_id, &camera, lights, materials, &frame};
}

RT_DEVICE Surface<float> device_surface(const DeviceScene& s, uint32_t prim, Vec3<float> o, Vec3<float> d) {
  float4 c = s.spheres.of_lane(prim);
  Surface<float> f;
  f.radius = c.w;
  f.point = sphere_surface(vec3(c.x, c.y, c.z), c.w, o, d);
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
RT_DEVICE Vec3<float> direct_light(const DeviceScene& s, const Surface<float>& f, uint32_t prim, Vec3<float> d, float weight,
                                   Vec3<float> radiance) {
  for (int i = 0; i < s.frame->light_count; ++i) {
    LightArrival<float> a = light_arrival(s.lights[i], f, d, weight);
    if (!a.faces) continue;
    if (s.frame->shadows &&
        (a.own_shadow || thread_any_hit(s.nodes, s.spheres.global, f.point.position, a.sample.wi, prim, a.sample.distance)))
      continue;
    radiance = radiance + a.radiance;
  }
  return radiance;
}

// Radiance and coverage along a camera ray whose first hit is known.
RT_DEVICE float4 trace_path(const DeviceScene& s, Ray<float> ray, uint32_t prim, float row_height) {
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  float throughput = 1.0f;
  float alpha = prim != kNoPrim || s.frame->background_kind == kBackgroundGradient ? 1.0f : 0.0f;
  for (int depth = 0;; ++depth) {
    if (prim == kNoPrim) {
      float height = depth == 0 ? row_height : background_height_direction(*s.camera, ray.direction);
      radiance = radiance + throughput * background(*s.frame, height);
      break;
    }
    Surface<float> f = device_surface(s, prim, ray.origin, ray.direction);
    float weight = local_weight(f, throughput);
    radiance = radiance + ambient_radiance(*s.frame, f, weight);
    radiance = direct_light(s, f, prim, ray.direction, weight, radiance);
    if (!(f.material.mirror > 0.0f) || depth >= s.frame->max_depth) break;
    throughput = throughput * f.material.mirror;
    MirrorRay<float> m = mirror_ray(f, ray.direction);
    uint32_t self = prim;
    float t = f.point.inside ? m.own_t : kInfinity;
    prim = f.point.inside ? prim : kNoPrim;
    ray = {m.origin, m.direction};
    thread_closest(s.nodes, s.spheres.global, ray.origin, ray.direction, self, t, prim);
  }
  return make_float4(radiance.x, radiance.y, radiance.z, alpha);
}

RT_DEVICE WarpBundle camera_bundle(const rt::Camera& cam, Vec3<float> origin) {
  WarpBundle f;
  f.parallel = cam.kind == kCameraOrthographic;
  f.axis = splat3<float>(cam.forward);
  f.u = normalize(splat3<float>(cam.right));
  f.v = normalize(splat3<float>(cam.up));
  f.apex.x = __shfl_sync(kFullWarp, origin.x, 0);
  f.apex.y = __shfl_sync(kFullWarp, origin.y, 0);
  f.apex.z = __shfl_sync(kFullWarp, origin.z, 0);
  // parallel rays start on one plane, each point of it rounded to its own size
  f.reach = f.parallel ? max_abs(f.apex) : 0.0f;
  return f;
}

RT_DEVICE void render_tile(const rt::RenderArgs& args, const DeviceScene& s, int tile, WarpScratch& scratch) {
  const rt::Frame& frame = *s.frame;
  const int lane = threadIdx.x & 31;
  // lanes beyond the picture's edge go along with a pixel inside
  int x = frame.x0 + tile % args.tiles_x * 8 + (lane & 7), y = frame.y0 + tile / args.tiles_x * 4 + (lane >> 3);
  const bool inside = x < frame.x1 && y < frame.y1;
  x = min(x, frame.x1 - 1), y = min(y, frame.y1 - 1);
  float4* out = (float4*)args.film + ((size_t)(y - frame.y0) * (size_t)(frame.x1 - frame.x0) + (size_t)(x - frame.x0));
  float4 sum = *out;
  const float row_height = background_height_row<float>(frame, (uint32_t)y);
  for (int i = 0; i < args.sample_count; ++i) {
    Ray<float> ray = camera_ray<float>(*s.camera, frame, (uint32_t)x, (uint32_t)y, (uint32_t)(args.sample_begin + i));
    float t = kInfinity;
    uint32_t prim = kNoPrim;
    if (args.sphere_count > 0) {
      WarpBundle bundle = camera_bundle(*s.camera, ray.origin);
      if (!warp_closest(s.nodes, s.spheres, bundle, scratch, ray.origin, ray.direction, t, prim))
        thread_closest(s.nodes, s.spheres.global, ray.origin, ray.direction, kNoPrim, t, prim);
      __syncwarp();
    }
    float4 l = trace_path(s, ray, prim, row_height);
    sum = make_float4(sum.x + l.x, sum.y + l.y, sum.z + l.z, sum.w + l.w);
  }
  if (inside) *out = sum;
}

}  // namespace RT_NS
