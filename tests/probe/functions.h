// The functions of kernels/ that tests call, each over rows of numbers: eval_NAME reads the inputs of a row and
// writes its outputs, over the number type F. Whole numbers travel as the bits of a float. What is the same for
// all rows is in Uniform. Both compilers take the list and the bodies from here: cpu.cpp, cuda.cu.
#pragma once
#define RT_FULL_SHADING 1
#include "bvh/node.h"
#include "core/sampling.h"
#include "film/tone_map.h"
#include "film/histogram.h"
#include "geom/large_sphere.h"
#include "integrator/camera.h"
#include "integrator/path_tracing.h"
#include "shade/background.h"
#include "shade/area_light.h"
#include "shade/bsdf.h"
#include "shade/emitter.h"
#include "shade/light.h"
#include "shade/scattering.h"
#include "shade/environment_map.h"
#if defined(__CUDACC__)
#include "cuda/traverse_single.cuh"
#else
#include "cpu/traverse_single.h"
#include "cpu/wide.h"
#endif

// name, inputs, outputs; E: over any number type, S: over float alone
#define PROBE_FUNCTIONS(E, S)                                                                     \
  E(log2, 1, 1) E(exp2, 1, 1) E(pow, 2, 1)                                                        \
  E(fast_log2, 1, 1) E(fast_exp2, 1, 1) E(fast_pow, 2, 1) E(quotient, 2, 1)                       \
  E(sample_1d, 2, 1) E(sample_2d, 2, 2) E(cosine_hemisphere, 5, 3) \
  E(sincos_turns, 1, 2) E(atan_quotient, 2, 1) E(filter_sample, 1, 1) S(sample_points, 6, 2)             \
  E(sphere_chord, 7, 2) E(sphere_nearest, 7, 1) E(sphere_occludes, 8, 1) E(sphere_surface, 10, 7)   \
  E(capsule_nearest, 10, 1) E(capsule_surface, 13, 7) E(capsule_exit, 13, 1)                        \
  E(cone_interval, 11, 2) E(cone_point, 12, 6) E(ellipsoid_interval, 13, 2) E(ellipsoid_point, 14, 6) \
  E(triangle_hit, 15, 5) E(triangle_normal, 9, 3) E(corner_weights, 12, 3) E(unpack_normal, 1, 3)    \
  E(smooth_point, 30, 6)                                                                            \
  E(large_height, 3, 1) E(large_nearest, 6, 2) E(large_surface, 6, 7)                             \
  S(node_cell, 1, 1) S(leaf_range, 1, 2) S(box_hits, 7, 1)                                        \
  E(phong_eval, 14, 2) E(bsdf_eval, 17, 3) E(bsdf_sample, 7, 6) \
  E(bsdf_ambient, 14, 3) E(light_sample, 3, 5) E(light_arrival, 10, 4)  \
  E(area_light_sample, 5, 6) E(area_light_hit, 6, 3) E(emitter_sample, 6, 8) E(emitter_pdf, 4, 1)     \
  E(environment_light_sample, 2, 7) E(environment_light, 3, 4) E(sample_environment, 2, 7) E(lens_ray, 4, 6)           \
  E(power_heuristic, 2, 1) E(scattering_sample, 8, 7)                                               \
  E(fresnel_dielectric, 2, 2) E(ggx_albedo, 2, 2) \
  E(principled_eval, 16, 4) E(principled_sample, 16, 7)                                           \
  E(background_row, 1, 3) E(background_direction, 3, 3) E(camera_ray, 2, 6)                       \
  E(tone_curve, 3, 3) E(srgb_encode, 1, 1) E(dither_threshold, 2, 1) E(tone_map_pixel, 6, 6)       \
  E(pixel_light, 4, 3)

struct Uniform {
  rt::Camera camera;
  rt::Frame frame;
  rt::Light light;
  rt::LargeSphere large;
  rt::Node node;
  rt::ToneArgs tone;
  rt::Emitter emitters[4];
  rt::EnvironmentTexel sky[64];
  int32_t integer[4];
  float number[4];
};

namespace RT_NS {

template <class F> RT_HD Vec3<F> read3(const F* in) { return {in[0], in[1], in[2]}; }
template <class F> RT_HD void write3(F* out, Vec3<F> v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }
template <class F> RT_HD F truth(MaskOf<F> m) { return select(m, F(1.0f), F(0.0f)); }
template <class F> RT_HD void write_surface(F* out, const SurfacePoint<F>& p) {
  write3(out, p.position), write3(out + 3, p.normal), out[6] = truth<F>(p.inside);
}

#define PROBE(name) template <class F> RT_HD void eval_##name(const F* in, F* out, const Uniform& u)

// ---- core/number.h
PROBE(log2) { out[0] = log2_(in[0]); }
PROBE(exp2) { out[0] = exp2_(in[0]); }
PROBE(pow) { out[0] = pow_(in[0], in[1]); }
PROBE(atan_quotient) { out[0] = atan_quotient(in[0], in[1]); }
PROBE(fast_log2) { out[0] = fast_log2(in[0]); }
PROBE(fast_exp2) { out[0] = fast_exp2(in[0]); }
PROBE(fast_pow) { out[0] = fast_pow(in[0], in[1]); }
PROBE(quotient) { out[0] = quotient(in[0], in[1]); }

PROBE(sincos_turns) {
  const SinCos<F> s = sincos_turns(in[0]);
  out[0] = s.sin, out[1] = s.cos;
}

// ---- core/sampling.h; x, y; integer: seed, sample, bounce, use
PROBE(sample_1d) {
  out[0] = sample_1d<F>((uint32_t)u.integer[0], as_uint(in[0]), as_uint(in[1]), (uint32_t)u.integer[1],
                        (uint32_t)u.integer[2], (SampleUse)u.integer[3]);
}
// normal, point of the unit square
PROBE(cosine_hemisphere) { write3(out, cosine_hemisphere(read3(in), Sample2d<F>{in[3], in[4]})); }
PROBE(sample_2d) {
  const Sample2d<F> p = sample_2d<F>((uint32_t)u.integer[0], as_uint(in[0]), as_uint(in[1]), (uint32_t)u.integer[1],
                                     (uint32_t)u.integer[2], (SampleUse)u.integer[3]);
  out[0] = p.u, out[1] = p.v;
}
// seed, x, y, sample, bounce, use
PROBE(sample_points) {
  const Sample2d<float> p = sample_2d<float>(as_uint(in[0]), as_uint(in[1]), as_uint(in[2]), as_uint(in[3]),
                                             as_uint(in[4]), (SampleUse)as_uint(in[5]));
  out[0] = p.u, out[1] = p.v;
}
// integer: kind; number: radius
PROBE(filter_sample) { out[0] = filter_sample(u.integer[0], u.number[0], in[0]); }

// ---- geom/sphere.h; to_center, radius, direction
template <class F> RT_HD Chord<F> chord_of(const F* in) { return sphere_chord(read3(in), in[3], read3(in + 4)); }
PROBE(sphere_chord) {
  const Chord<F> c = chord_of(in);
  out[0] = c.mid, out[1] = c.half2;
}
PROBE(sphere_nearest) { out[0] = sphere_nearest(chord_of(in), in[3]); }
PROBE(sphere_occludes) { out[0] = truth<F>(sphere_occludes(chord_of(in), in[3], in[7])); }
// center, radius, origin, direction
PROBE(sphere_surface) { write_surface(out, sphere_surface(read3(in), in[3], read3(in + 4), read3(in + 7))); }

// ---- geom/capsule.h; center, radius, axis, then (origin and) direction
PROBE(capsule_nearest) {
  const Vec3<F> center = read3(in), axis = read3(in + 4), direction = read3(in + 7);
  out[0] = capsule_nearest(center, in[3], axis, capsule_line(center, in[3], axis, direction));
}
PROBE(capsule_surface) {
  write_surface(out, capsule_surface(read3(in), in[3], read3(in + 4), read3(in + 7), read3(in + 10)));
}
// center, radius, axis, then position and direction of a ray on the inner side
PROBE(capsule_exit) {
  const SurfacePoint<F> point = {read3(in + 7), read3(in + 10), F(0.0f) < F(1.0f)};
  out[0] = capsule_exit(read3(in), in[3], read3(in + 4), point, read3(in + 10));
}

// ---- geom/triangle.h; corners, then origin and direction, or a point
template <class F> RT_HD Triangle<F> triangle_from(const F* in) { return {read3(in), read3(in + 3), read3(in + 6)}; }
PROBE(triangle_hit) {
  const TriangleHit<F> h = triangle_hit(triangle_from(in), read3(in + 9), read3(in + 12));
  out[0] = h.t, write3(out + 1, h.weights), out[4] = truth<F>(h.misses);
}
PROBE(triangle_normal) { write3(out, triangle_normal(triangle_from(in))); }
PROBE(corner_weights) { write3(out, corner_weights(triangle_from(in), read3(in + 9))); }
PROBE(unpack_normal) { write3(out, unpack_normal<F>(as_uint(in[0]))); }
// corners, their normals, weights, then point and normal of the flat triangle, and the ray
PROBE(smooth_point) {
  const SurfacePoint<F> flat = {read3(in + 21), read3(in + 24), splat_mask<F>(false)};
  const SurfacePoint<F> p =
      smooth_point(triangle_from(in), triangle_from(in + 9), read3(in + 18), flat, read3(in + 27));
  write3(out, p.position), write3(out + 3, p.normal);
}

// ---- geom/cone.h; center, start radius, axis, end radius, direction (and whether the origin is inside)
template <class F> RT_HD Cone<F> cone_from(const F* in) { return {read3(in), in[3], read3(in + 4), in[7]}; }
template <class F> RT_HD void write_interval(F* out, const Interval<F>& i) { out[0] = i.near, out[1] = i.far; }
template <class F> RT_HD void write_point(F* out, const OutwardPoint<F>& p) {
  write3(out, p.offset), write3(out + 3, p.normal);
}
PROBE(cone_interval) { write_interval(out, cone_interval(cone_from(in), read3(in + 8))); }
PROBE(cone_point) { write_point(out, cone_point(cone_from(in), read3(in + 8), in[11] > F(0.0f))); }

// ---- geom/ellipsoid.h; center, semi-axes, quaternion w, x, y, z, direction (and whether the origin is inside)
template <class F> RT_HD Ellipsoid<F> ellipsoid_from(const F* in) {
  return oriented_ellipsoid(read3(in), read3(in + 3), in[6], in[7], in[8], in[9]);
}
PROBE(ellipsoid_interval) { write_interval(out, ellipsoid_interval(ellipsoid_from(in), read3(in + 10))); }
PROBE(ellipsoid_point) { write_point(out, ellipsoid_point(ellipsoid_from(in), read3(in + 10), in[13] > F(0.0f))); }

// ---- geom/large_sphere.h; origin, direction
PROBE(large_height) { out[0] = large_height(u.large, read3(in)); }
PROBE(large_nearest) {
  const LargeHit<F> hit = large_nearest(u.large, read3(in), read3(in + 3));
  out[0] = hit.t, out[1] = truth<F>(hit.inside);
}
PROBE(large_surface) { write_surface(out, large_surface(u.large, read3(in), read3(in + 3))); }

// ---- bvh/node.h and what each side makes of it
PROBE(node_cell) { out[0] = node_cell(u.node, (int)as_uint(in[0])); }
PROBE(leaf_range) {
  const int slot = (int)as_uint(in[0]);
  out[0] = as_float(leaf_begin(u.node, slot)), out[1] = as_float(leaf_end(u.node, slot));
}
// origin, direction, t_max -> slots whose boxes are met, as bits
#if defined(__CUDACC__)
template <class F> RT_DEVICE void eval_box_hits(const F* in, F* out, const Uniform& u) {
  const ThreadRay ray = thread_ray(read3(in), read3(in + 3));
  out[0] = as_float(intersect_boxes(&u.node, 0, ray, in[6], [](int, float, float) {}).mask);
}
#else
PROBE(box_hits) { out[0] = as_float(intersect_boxes(u.node, single_ray(read3(in), read3(in + 3)), in[6]).mask); }
#endif

// ---- shade; ambient, diffuse, specular, shininess, mirror, then normal, wo, wi
template <class F> RT_HD Phong<F> read_phong(const F* in) {
  return {in[0], in[1], in[2], in[3], in[4], {F(1.0f), F(1.0f), F(1.0f)}};
}
template <class F> RT_HD Bsdf<F> phong_bsdf(Vec3<F> albedo, const Phong<F>& phong) {
  Bsdf<F> bsdf;
  bsdf.albedo = albedo, bsdf.phong = phong, bsdf.is_principled = splat_mask<F>(false);
  return bsdf;
}
PROBE(phong_eval) {
  const Vec3<F> normal = read3(in + 5), wi = read3(in + 11);
  const PhongValue<F> terms = phong_eval(read_phong(in), normal, read3(in + 8), wi, dot(normal, wi));
  out[0] = terms.diffuse, out[1] = terms.specular;
}
// albedo before these
PROBE(bsdf_eval) {
  const Vec3<F> normal = read3(in + 8), wi = read3(in + 14);
  write3(out, bsdf_eval(phong_bsdf(read3(in), read_phong(in + 3)), normal, read3(in + 11), wi, dot(normal, wi)));
}
// mirror, normal, ray
// albedo, material, light, weight
PROBE(bsdf_ambient) {
  write3(out, bsdf_ambient(phong_bsdf(read3(in), read_phong(in + 3)), read3(in + 8), read3(in + 11)));
}
PROBE(bsdf_sample) {
  const F zero(0.0f);
  const Bsdf<F> bsdf = phong_bsdf<F>({zero, zero, zero}, {zero, zero, zero, zero, in[0], {F(1.0f), F(1.0f), F(1.0f)}});
  const BsdfSample<F> s = bsdf_sample(bsdf, read3(in + 1), read3(in + 4));
  write3(out, s.wi), write3(out + 3, s.weight);
}
// position, point of the unit square
PROBE(area_light_sample) {
  const LightSample<F> s = area_light_sample(u.light, read3(in), Sample2d<F>{in[3], in[4]});
  write3(out, s.wi), out[3] = s.distance, out[4] = s.attenuation, out[5] = s.pdf;
}
// position, direction
PROBE(area_light_hit) {
  const LightHit<F> hit = area_light_hit(u.light, read3(in), read3(in + 3));
  out[0] = hit.t, out[1] = hit.radiance, out[2] = hit.pdf;
}
// ---- shade/emitter.h; position, choice, point of the unit square; integer: number of emitters
PROBE(emitter_sample) {
  const EmitterSample<F> s = emitter_sample(u.emitters, u.integer[0], read3(in), in[3], Sample2d<F>{in[4], in[5]});
  write3(out, s.sample.wi), out[3] = s.sample.distance, out[4] = s.sample.attenuation, out[5] = s.sample.pdf;
  out[6] = as_float(s.sphere), out[7] = truth<F>(s.meets);
}
// position, number of an emitter
PROBE(emitter_pdf) {
  const float* fields = (const float*)u.emitters;
  const UintOf<F> at = as_uint(in[3]) * UintOf<F>((uint32_t)(sizeof(rt::Emitter) / sizeof(float)));
  const Sphere<F> sphere = {{gather(fields, at), gather(fields + 1, at), gather(fields + 2, at)},
                            gather(fields + 3, at)};
  const Vec3<F> radiance = {gather(fields + 4, at), gather(fields + 5, at), gather(fields + 6, at)};
  out[0] = emitter_pdf(u.frame.scene, sphere, radiance, read3(in));
}
// ---- shade/environment_map.h; point of the unit square -> direction, radiance, density
PROBE(environment_light_sample) {
  const EnvironmentLightSample<F> s = environment_light_sample(u.sky, u.frame, Sample2d<F>{in[0], in[1]});
  write3(out, s.wi), write3(out + 3, s.light.radiance), out[6] = s.light.pdf;
}
// direction -> radiance, density
PROBE(environment_light) {
  const EnvironmentLight<F> s = environment_light(u.sky, u.frame, read3(in));
  write3(out, s.radiance), out[3] = s.pdf;
}
// ---- integrator/path_tracing.h; point of the unit square -> direction, what a white surface would reflect of the sample
// but for a cosine (0 where there is none), density
PROBE(sample_environment) {
  rt::SceneTables scene = {};
  scene.sky = u.sky, scene.frame = &u.frame;
  const AnyLightSample<F> a = sample_environment(scene, Sample2d<F>{in[0], in[1]});
  write3(out, a.sample.wi), write3(out + 3, a.sample.attenuation * a.color), out[6] = a.sample.pdf;
}
// two densities
PROBE(power_heuristic) { out[0] = power_heuristic(in[0], in[1]); }
// ---- shade/scattering.h; of a white surface by Phong's: diffuse, mirror, wo, then a point of the unit square and the number
// that chooses the lobe
PROBE(scattering_sample) {
  const F zero(0.0f), one(1.0f);
  const Phong<F> phong = {zero, in[0], zero, one, in[1], {one, one, one}};
  const Scattering<F> s = scattering(phong_bsdf<F>({one, one, one}, phong), Vec3<F>{zero, zero, one}, read3(in + 2),
                                     splat_mask<F>(false), one);
  const ScatteringSample<F> a = scattering_sample(s, Sample2d<F>{in[5], in[6]}, in[7]);
  write3(out, a.wi), write3(out + 3, a.weight), out[6] = a.pdf;
}
// cosine, relative index -> reflected share, cosine of the refracted ray
PROBE(fresnel_dielectric) {
  const Fresnel<F> f = fresnel_dielectric(in[0], in[1]);
  out[0] = f.reflected, out[1] = f.cos_t;
}
// roughness, cosine
PROBE(ggx_albedo) {
  const GgxAlbedo<F> a = albedo_entry(kGgxAlbedo, in[0], in[1]);
  out[0] = a.all, out[1] = a.grazing;
}
// roughness, metallic, ior, specular, coat, transmission, albedo, whether inside, wo (in the frame of the normal)
template <class F> RT_HD PrincipledShading<F> read_principled(const F* in) {
  const Principled<F> m = {in[0], in[1], in[2], in[3], in[4], in[5], F(0.0f), F(0.0f)};
  const MaskOf<F> inside = in[9] > F(0.0f);
  return principled_shading(m, read3(in + 6), in[12], inside, relative_index(m, inside));
}
// then wi
PROBE(principled_eval) {
  const BsdfValue<F> b = principled_eval(read_principled(in), read3(in + 10), read3(in + 13));
  write3(out, b.value), out[3] = b.pdf;
}
// then a point of the unit square and the number that chooses the lobe
PROBE(principled_sample) {
  const PrincipledSample<F> s =
      principled_sample(read_principled(in), read3(in + 10), Sample2d<F>{in[13], in[14]}, in[15]);
  write3(out, s.i), write3(out + 3, s.weight), out[6] = s.pdf;
}
// position
PROBE(light_sample) {
  const LightSample<F> s = light_sample(u.light, read3(in));
  write3(out, s.wi), out[3] = s.distance, out[4] = s.attenuation;
}
// ---- integrator/direct.h; of a white diffuse sphere: center, radius, then origin and direction of the ray -> whether
// light contributes, and the radiance if nothing is in the way
PROBE(light_arrival) {
  const F zero(0.0f), one(1.0f);
  const Primitive<F> sphere = {read3(in), in[3]};
  PathState<F> path = {};
  path.ray = {read3(in + 4), read3(in + 7)}, path.throughput = {one, one, one};
  const Surface<F> surface = {sphere, primitive_surface(sphere, path.ray.origin, path.ray.direction),
                              phong_bsdf<F>({one, one, one}, {zero, one, zero, one, zero})};
  const DirectLightSample<F> a = shade_light(u.frame.integrator, u.light, path, surface);
  out[0] = truth<F>(a.contributes), write3(out + 1, a.radiance);
}
// y
PROBE(background_row) {
  write3(out, background(u.frame.environment, background_height_row<F>(u.frame.film.height, as_uint(in[0]))));
}
PROBE(background_direction) {
  write3(out, background(u.frame.environment, background_height_direction(u.frame.environment, read3(in))));
}

// ---- integrator/camera.h; x, y; integer: sample
PROBE(camera_ray) {
  const Ray<F> ray =
      camera_ray<F>(u.camera, u.frame.film, u.frame.sampler, as_uint(in[0]), as_uint(in[1]), (uint32_t)u.integer[0]);
  write3(out, ray.origin), write3(out + 3, ray.direction);
}

// way across the picture, as parts of right and up; point of the unit square
PROBE(lens_ray) {
  const Vec3<F> across = fma3(in[1], splat3<F>(u.camera.up), in[0] * splat3<F>(u.camera.right));
  const Ray<F> ray = lens_ray(u.camera, across, Sample2d<F>{in[2], in[3]});
  write3(out, ray.origin), write3(out + 3, ray.direction);
}

// ---- film; integer: curve; number: white
PROBE(tone_curve) { write3(out, tone_curve(u.integer[0], u.number[0], read3(in))); }
PROBE(srgb_encode) { out[0] = srgb_encode(in[0]); }
// x, y
PROBE(dither_threshold) { out[0] = dither_threshold(as_uint(in[0]), as_uint(in[1])); }
// sums r, g, b, alpha, then x, y -> codes r, g, b, a, clipped, black
PROBE(tone_map_pixel) {
  const ToneMapping d = tone_mapping(u.tone, u.tone.exposure);
  const PixelCodes<F> p = tone_map_pixel(d, in[0], in[1], in[2], in[3], as_uint(in[4]), as_uint(in[5]));
  out[0] = as_float(p.r), out[1] = as_float(p.g), out[2] = as_float(p.b), out[3] = as_float(p.a);
  out[4] = truth<F>(p.clipped), out[5] = truth<F>(p.black);
}
// sums r, g, b, alpha -> bin, luminance, lit
PROBE(pixel_light) {
  const PixelLight<F> p = pixel_light(in[0], in[1], in[2], in[3]);
  out[0] = as_float(p.bin), out[1] = p.luminance, out[2] = truth<F>(p.lit);
}

#undef PROBE

}  // namespace RT_NS
