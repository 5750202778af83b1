// The `ao` integrator: as `direct`, but the ambient light comes from a sky, and what is in the way of the sky
// keeps it off: ambient occlusion (Zhukov, Iones, Kronin 1998) by rays with the density of a cosine.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// occlusion rays per surface, and their length in render space
#define RT_AO(F) F(int32_t, ao_samples, 1) F(float, ao_distance, 1)

#elif !defined(RT_INTEGRATOR_AO_H)
#define RT_INTEGRATOR_AO_H
#include "direct.h"
#include "draft.h"

namespace RT_NS {

// Whether the sky's light on a surface of the path is kept for draft_ambient, and not added: a draft has one ray a surface.
RT_HD bool is_draft(const rt::SceneTables& s) { return RT_INTEGRATORS && RT_LOCAL_INTEGRATORS && RT_DRAFTS && s.draft; }
template <class F> RT_HD bool keeps_surface(const rt::SceneTables& s, const PathState<F>& p) {
  return is_draft(s) && p.depth == 0;
}

// The points of the pixels of a draft: neighbours have a stretch of a sequence that is even in every stretch (R2, Roberts
// 2018), in the rows that rays leave.
template <class F> RT_HD Sample2d<F> draft_point(UintOf<F> x, UintOf<F> y) {
  const UintOf<F> i = x + (y >> 1) * UintOf<F>(7u);
  return {unit_float(i * UintOf<F>(3242174889u)), unit_float(i * UintOf<F>(2447445414u))};
}

// A direction to the sky with the density of a cosine, for ray 0 to n - 1 of a sample: the normal plus a point of the
// unit sphere, whose places do not depend on the normal. So points that are even on the sphere stay even in the mean
// over a pixel in which the normal turns. Ray j has points of its own, on the sector j of n about the y axis: rays of
// neighbouring pixels with the same number go similar ways, and meet similar nodes.
template <class F>
RT_HD Vec3<F> ao_direction(const rt::SceneTables& s, const PathState<F>& p, Vec3<F> normal, int32_t ray) {
  const rt::Frame& frame = *s.frame;
  const Sample2d<F> point = keeps_surface(s, p) ? draft_point<F>(p.x, p.y)
                                                : sample_2d<F>(frame.sampler.seed, p.x, p.y, p.sample,
                                                               (uint32_t)p.depth, kUseBsdf, (uint32_t)ray);
  const SinCos<F> phi = sincos_turns((F((float)ray) + point.v) * F(1.0f / (float)frame.integrator.ao_samples));
  const F radius = F(2.0f) * sqrt_(max_(point.u - point.u * point.u, F(0.0f)));
  const Vec3<F> sum = normal + Vec3<F>{radius * phi.cos, fma_(F(-2.0f), point.u, F(1.0f)), radius * phi.sin};
  const F square = dot(sum, sum);
  return select3(square > F(1e-6f), F(1.0f) / sqrt_(max_(square, F(1e-6f))) * sum, normal);
}

// What one ray of a surface brings from a sky of which the surface shows `ambient` as a whole.
template <class F> RT_HD Vec3<F> ao_radiance(const rt::Frame& frame, Vec3<F> ambient) {
  return F(1.0f / (float)frame.integrator.ao_samples) * ambient;
}

// Whether occlusion rays leave a surface. What a ground shows that catches shadows is not filtered.
template <class F> RT_HD MaskOf<F> traces_ao(const rt::SceneTables& s, const PathState<F>& p) {
  if (!keeps_surface(s, p) || catches_shadows(*s.frame)) return splat_mask<F>(true);
  return traces_row(p.y - UintOf<F>((uint32_t)s.frame->film.y0));
}

// What the sky sends to a surface along one ray. ray: 0 to ao_samples - 1; ambient: what the surface shows of the whole sky
template <class F>
RT_HD DirectLightSample<F> shade_ao(const rt::SceneTables& s, const PathState<F>& p, const Surface<F>& f,
                                    Vec3<F> ambient, int32_t ray) {
  const F distance(s.frame->integrator.ao_distance);
  const Vec3<F> wi = ao_direction(s, p, f.point.normal, ray);
  const MaskOf<F> is_free = !(f.point.inside & (hit_again(f.primitive, f.point, wi) < distance));
  return {f.point.position,
          {wi, distance, F(1.0f), F(0.0f)},
          MaskOf<F>(is_free & traces_ao(s, p)),
          ao_radiance(*s.frame, ambient)};
}

// The depth of a surface as draft_ambient compares it: in sizes of a pixel there.
template <class F> RT_HD F draft_depth(const rt::SceneTables& s, const PathState<F>& p, const Surface<F>& f) {
  const rt::Camera& camera = *s.camera;
  const float pixel =
      2.0f * sqrt_(dot(splat3<float>(camera.up), splat3<float>(camera.up))) / (float)s.frame->film.height;
  const F depth = max_(dot(f.point.position - p.ray.origin, p.ray.direction), F(1e-20f));
  if (camera.kind == kCameraOrthographic) return F(1.0f / (kDraftReach * pixel)) * depth;
  return F(0.6931472f / (kDraftReach * pixel)) * log2_(depth);  // a pixel grows with the depth
}

// Where the first plane of a draft keeps a pixel of the picture, and the next ones from there.
RT_HD float* draft_at(const rt::SceneTables& s, uint32_t x, uint32_t y) {
  const rt::Film& film = s.frame->film;
  return s.draft + draft_place(film.x1 - film.x0, (int32_t)x - film.x0, (int32_t)y - film.y0);
}
RT_HD int64_t draft_plane(const rt::Film& film) { return draft_plane(film.x1 - film.x0, film.y1 - film.y0); }

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_AO_H
