// The `path` integrator: unidirectional path tracing (Kajiya 1986) with next-event estimation. Each surface samples all
// lights and the direction in which the path goes on; area lights that it then meets count by multiple importance
// sampling (Veach, Guibas 1995, power heuristic). Light from afar, the background and the ambient light, comes with the
// paths that leave the scene. From the fifth bounce on paths end by Russian roulette, and at the largest depth unless they
// are inside of glass.
//
// Area lights do not occlude: their emission is added to rays that cross them. The camera does not see them.
//
// `direct` and `ao` are rendered by these functions too where a scene has materials other than Phong's or area lights:
// then no path goes on but along Phong's mirrors, and light counts as sampled at the surfaces alone. A narrow lobe, as of
// chrome or a coat, would show an area light as a few spikes, since few of the light's samples lie in it. There a
// direction is sampled from the lobe too, for area lights alone.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// clamp_indirect: most radiance of an indirect contribution; 0: any
#define RT_PATH(F) F(float, clamp_indirect, 1)

#elif !defined(RT_INTEGRATOR_PATH_TRACING_H)
#define RT_INTEGRATOR_PATH_TRACING_H
#include "../shade/emitter.h"
#include "../shade/scattering.h"
#include "../shade/environment_map.h"
#include "integrators.h"

namespace RT_NS {

constexpr int kRouletteDepth = 5;

// Bounces of a path inside of glass beyond the largest depth. The roughest glass of index 2.4 keeps 1e-18 of its light so
// long, that of index 4 a part in 1e7.
constexpr int kGlassBounces = 256;

// Whether spheres are in the way of a light. Where none are, its samples count in full: paths meet spheres.
RT_HD bool casts_shadows(const rt::Frame& frame, const rt::Light& light) {
  return frame.integrator.shadows && light.shadow;
}

// Whether spheres are in the way of the environment map.
RT_HD bool environment_casts_shadows(const rt::Frame& frame) {
  return frame.integrator.shadows && frame.environment_map.map_shadow;
}

// Whether the path is inside of glass before a surface.
template <class F> RT_HD MaskOf<F> is_in_glass(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  if (!nests(frame)) return f.point.inside & is_glass(f.bsdf);
  UintOf<F> solids(0u);
  for (int i = 0; i < kInteriorSolids; ++i) solids = solids | p.interior.solid[i];
  return !(solids == UintOf<F>(0u));
}

// Whether a ray leaves from a path's next surface. Paths inside of glass go on after the last bounce until they are
// outside, where their light comes from.
template <class F>
RT_HD MaskOf<F> path_goes_on(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  const int32_t last = frame.integrator.max_depth;
  if (!traces_paths(frame.integrator)) return splat_mask<F>(false);
  if (p.depth < last) return splat_mask<F>(true);
  return splat_mask<F>(last > 0 && p.depth < last + kGlassBounces) & is_in_glass(frame, p, f);
}

// Veach's power heuristic with an exponent of 2: weight of a sample with density a that density b could have drawn; 0
// where a is 0, or hardly more than what by_density takes for 0.
template <class F> RT_HD F power_heuristic(F a, F b) {
  // quarters, since the inverse of kInfinity has not full precision; at most 1, so that no square overflows
  const F larger = max_(F(0.25f) * min_(max_(a, b), F(kInfinity)), F(kLeastNormal));
  const F ratio = quotient(F(0.25f) * min_(a, b), larger), square = ratio * ratio;
  return select(a >= F(4.0f * kLeastNormal), quotient(select(a < b, square, F(1.0f)), F(1.0f) + square), F(0.0f));
}

// bounces: between the light and the camera. One bounce is direct light.
template <class F> RT_HD Vec3<F> clamped(const rt::Integrator& integrator, int bounces, Vec3<F> radiance) {
  if (bounces < 2 || !(integrator.clamp_indirect > 0.0f)) return radiance;
  const F limit(integrator.clamp_indirect);
  const F most = largest(radiance);
  return select(most > limit, limit / most, F(1.0f)) * radiance;
}

// Whether the camera sees the environment map, as a thing like others.
RT_HD bool shows_environment(const rt::Frame& frame) {
  return has_environment_map(frame) && frame.environment_map.map_visible;
}

// 1 where a camera ray meets something.
template <class F> RT_HD F camera_coverage(const rt::Frame& frame, const PathState<F>& p) {
  return shows_environment(frame) ? F(1.0f) : path_coverage(p);
}

// Whether surfaces are lit by the environment map.
RT_HD bool environment_lights(const rt::Frame& frame) {
  return has_environment_map(frame) && traces_paths(frame.integrator);
}

// Whether the environment map is left to the paths that go on, as one that is nearly even is: half of its samples would lie
// below the surface, and the rays to the others would cost as much as a bounce. From the last surface paths go on for
// its sake alone. One without shadows is sampled alone, as other lights are: a path that goes on would meet what is in
// its way.
RT_HD bool leaves_environment(const rt::Frame& frame) {
  return environment_lights(frame) && frame.environment_map.map_even && environment_casts_shadows(frame);
}

// Whether the environment map is sampled as a light.
RT_HD bool samples_environment(const rt::Frame& frame) {
  return environment_lights(frame) && !leaves_environment(frame);
}

// Whether a path has left its last surface, to meet nothing but the environment map: its density is negative.
template <class F> RT_HD MaskOf<F> is_beyond_last(const PathState<F>& p) {
  return splat_mask<F>(RT_EMITTERS != 0) & (p.scatter_pdf < F(0.0f));
}

// Radiance from the environment map along a ray that meets nothing; one that was sampled counts by its share.
template <class F>
RT_HD Vec3<F> shade_environment_miss(const rt::SceneTables& scene, const PathState<F>& p) {
  const rt::Frame& frame = *scene.frame;
  const EnvironmentLight<F> light = environment_light(scene.sky, frame, p.ray.direction);
  F weight(1.0f);
  if (p.depth > 0 && samples_environment(frame)) {
    const F shared = environment_casts_shadows(frame) ? power_heuristic(p.scatter_pdf, light.pdf) : F(0.0f);
    weight = select(p.scatter_pdf > F(0.0f), shared, weight);
  }
  return clamped(frame.integrator, p.depth, weight * (p.throughput * light.radiance));
}

// Radiance from afar along a ray that meets nothing.
template <class F> RT_HD Vec3<F> shade_miss(const rt::SceneTables& scene, const PathState<F>& p) {
  const rt::Frame& frame = *scene.frame;
  if (has_environment_map(frame) && (p.depth > 0 || frame.environment_map.map_visible))
    return shade_environment_miss(scene, p);
  if (p.depth == 0 || !traces_paths(frame.integrator)) return shade_background(frame, p);
  const Vec3<F> sky = splat3<F>(frame.environment.ambient) +
                      background(frame.environment, background_height_direction(frame.environment, p.ray.direction));
  return clamped(frame.integrator, p.depth, p.throughput * sky);
}

// Radiance from an area light that a ray crosses before t; a directional one is as far as a ray can go.
template <class F>
RT_HD Vec3<F> shade_crossing(const rt::Frame& frame, const rt::Light& light, const PathState<F>& p, F t) {
  const LightHit<F> hit = area_light_hit(light, p.ray.origin, p.ray.direction);
  const MaskOf<F> certain = !(p.scatter_pdf > F(0.0f));
  const F shared = casts_shadows(frame, light) ? power_heuristic(p.scatter_pdf, hit.pdf) : F(0.0f);
  const F weight = select(certain, F(1.0f), shared);
  const F seen = select((hit.t >= F(0.0f)) & (hit.t <= t) & !is_beyond_last(p), hit.radiance * weight, F(0.0f));
  return clamped(frame.integrator, p.depth, seen * (p.throughput * splat3<F>(light.color)));
}

// Share of the light that the glass lets through between the origin of the ray and its surface, seen from inside.
template <class F> RT_HD Vec3<F> inner_transmittance(const PathState<F>& p, const Surface<F>& f) {
  const Principled<F>& m = f.bsdf.principled;
  const MaskOf<F> absorbs = is_glass(f.bsdf) & f.point.inside & (m.attenuation_distance > F(0.0f));
  const Vec3<F> one = {F(1.0f), F(1.0f), F(1.0f)};
  if (!any(absorbs)) return one;
  const Vec3<F> way = f.point.position - p.ray.origin;
  return select3(absorbs, glass_transmittance(m, f.bsdf.albedo, sqrt_(dot(way, way))), one);
}

// The scattering of a surface, once for all its lights and the next ray.
template <class F>
RT_HD Scattering<F> path_scattering(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  F eta = relative_index(f.bsdf.principled, f.point.inside);
  if (nests(frame)) eta = p.interior.index_beyond / p.interior.index_here;
  return scattering(f.bsdf, f.point.normal, F(-1.0f) * p.ray.direction, f.point.inside, eta);
}

// The same for a surface that is lit: where no path goes on, directions are sampled from narrow lobes alone, to meet lights.
template <class F>
RT_HD Scattering<F> surface_scattering(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  Scattering<F> s = path_scattering(frame, p, f);
  if (!traces_paths(frame.integrator)) keep_narrow_lobes(s);
  return s;
}

// The light that the surface itself sends out.
template <class F>
RT_HD Vec3<F> shade_emission(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f,
                             const Scattering<F>& s) {
  const MaskOf<F> emits = largest(s.emission) > F(0.0f);
  F weight(1.0f);
  if (emitter_count(frame) && p.depth > 0 && any(emits)) {
    const F pdf = emitter_pdf(frame.scene, emitting_sphere(f.primitive), s.emission, p.ray.origin);
    const F shared = frame.integrator.shadows ? power_heuristic(p.scatter_pdf, pdf) : F(0.0f);
    weight = select(p.scatter_pdf > F(0.0f), shared, weight);
#if RT_SOLIDS
    weight = select(is_emitting_sphere(f.primitive), weight, F(1.0f));
#endif
  }
  return clamped(frame.integrator, p.depth, select3(emits, weight * (p.throughput * s.emission), s.emission));
}

// Ambient light, where no paths are traced to what is around.
template <class F>
RT_HD Vec3<F> shade_ambient(const rt::Frame& frame, const PathState<F>& p, const Scattering<F>& s) {
  return p.throughput * (splat3<F>(frame.environment.ambient) * scattering_ambient(s));
}

// Which directions from a surface point begin inside the primitive, and where they leave it. Below a ground nothing
// ends: such directions count as leaving it.
template <class F>
struct Entry {
  MaskOf<F> enters;
  F t;
};

template <class F> RT_HD Entry<F> enter(const rt::Frame& frame, const Surface<F>& f, Vec3<F> wi) {
  const F cosine = dot(wi, f.point.normal);
  const MaskOf<F> inward = select(f.point.inside, cosine, F(0.0f) - cosine) > F(0.0f);
  SurfacePoint<F> facing = f.point;  // its normal on the side of wi
  facing.normal = select(cosine < F(0.0f), F(-1.0f), F(1.0f)) * f.point.normal;
  const F t = inner_distance(frame, f, facing, wi);
  return {MaskOf<F>(inward & (t < F(kInfinity))), t};
}

// The point from which a ray in direction wi starts: on the side of the surface to which it goes.
template <class F> RT_HD Vec3<F> start_point(const Surface<F>& f, Vec3<F> wi) {
  const F across = select(dot(wi, f.point.normal) < F(0.0f), F(-2.0f) * f.error, F(0.0f));
  return fma3(across, f.point.normal, f.point.position);
}

// The sample of a light; each light of a surface has random numbers of its own.
template <class F>
RT_HD LightSample<F> sample_light(const rt::Frame& frame, const rt::Light& light, int32_t number, const PathState<F>& p,
                                  Vec3<F> position) {
  if (!is_area_light(light)) return light_sample(light, position);
  const uint32_t seed = frame.sampler.seed + 0x9e3779b9u * (uint32_t)number;
  return area_light_sample(light, position, sample_2d<F>(seed, p.x, p.y, p.sample, (uint32_t)p.depth, kUseLight));
}

// with_bsdf: whether directions sampled from the BSDF meet this light too, for multiple importance sampling
template <class F>
RT_HD DirectLightSample<F> shade_sample(const rt::Frame& frame, const LightSample<F>& sample, Vec3<F> color,
                                        bool shadows, const PathState<F>& p, const Surface<F>& f,
                                        const Scattering<F>& s, MaskOf<F> with_bsdf) {
  DirectLightSample<F> a;
  a.sample = sample;
  const ScatteringValue<F> v = scattering_eval(s, sample.wi);
  const F other = select(with_bsdf & splat_mask<F>(shadows), v.pdf, F(0.0f));
  const F weight = select(sample.pdf > F(0.0f), power_heuristic(sample.pdf, other), F(1.0f));
  const Vec3<F> value = weight * v.value + Vec3<F>{v.highlight, v.highlight, v.highlight};
  a.radiance = clamped(frame.integrator, p.depth + 1, (sample.attenuation * p.throughput) * (color * value));
  a.contributes = largest(a.radiance) > F(0.0f);
  if (shadows) {
    const Entry<F> entry = enter(frame, f, sample.wi);
    a.contributes = a.contributes & !(entry.enters & (entry.t < sample.distance));
  }
  a.origin = start_point(f, sample.wi);
  return a;
}

// Number of the light samples of a surface: one of each light, one of the spheres that send out light, one of the
// environment map.
RT_HD int32_t light_samples(const rt::Frame& frame) {
  const bool environment =
      samples_environment(frame) || (leaves_environment(frame) && frame.environment_map.map_highlights);
  return light_count(frame) + (emitter_count(frame) ? 1 : 0) + (environment ? 1 : 0);
}

// Whether the light sample of that number, at least light_count, is that of the environment map.
RT_HD bool is_environment(const rt::Frame& frame, int32_t number) {
  return number > light_count(frame) || !emitter_count(frame);
}

// Whether there are shadows in the light of that number.
RT_HD bool casts_shadows(const rt::SceneTables& scene, int32_t number) {
  const rt::Frame& frame = *scene.frame;
  if (number < light_count(frame)) return casts_shadows(frame, scene.lights[number]);
  return is_environment(frame, number) ? environment_casts_shadows(frame) : frame.integrator.shadows != 0;
}

// The sample of an emitter that planes cut: as far as what is left of it.
template <class F>
RT_HD EmitterSample<F> clipped_emitter(const rt::Frame& frame, const EmitterSample<F>& e, Vec3<F> position) {
  const Sphere<F> seen = {e.emitter.center - position, e.emitter.radius};
  const Chord<F> chord = sphere_chord(seen.center, seen.radius, e.sample.wi);
  const F whole = sphere_nearest(chord, seen.radius), half = sqrt_(max_(chord.half2, F(0.0f)));
  const F t = clipped_hit(primitive_interval(seen, chord), whole, clip_span(frame.clip, position, e.sample.wi)).t;
  EmitterSample<F> clipped = e;
  clipped.meets = t > F(0.0f);
  clipped.sample.distance = t - emitter_gap(e.emitter, position, e.around, half);
  return clipped;
}

// The sample of an emitter that is a large sphere, whose record says less well where it is (geom/large_sphere.h). At the
// hit the slope of the line is half its chord, in radii.
template <class F>
RT_COLD EmitterSample<F> large_emitter(const rt::SceneTables& s, const EmitterSample<F>& e, Vec3<F> position) {
  const rt::Frame& frame = *s.frame;
  EmitterSample<F> found = e;
  for (int i = 0; i < large_count(frame); ++i) {
    const rt::LargeSphere& large = s.large[i];
    const MaskOf<F> own = e.sphere == UintOf<F>((uint32_t)s.order[large.prim]);
    if (!any(own)) continue;
    F t = large_nearest(large, position, e.sample.wi).t;
    if (clips(frame)) t = clipped_large(large, position, e.sample.wi, clip_span(frame.clip, position, e.sample.wi)).t;
    const F slope = sqrt_(max_(large_line(large, position, e.sample.wi).half2, F(0.0f)));
    const F gap = F(kNearErrors) * large_error(fma3(t, e.sample.wi, position)) / slope;
    found.meets = (own & (t > F(0.0f))) | ((!own) & found.meets);
    found.sample.distance = select(own, t - gap, found.sample.distance);
  }
  return found;
}

// A sample of a light. present: whether the light is there for it
template <class F>
struct AnyLightSample {
  LightSample<F> sample;
  Vec3<F> color;
  MaskOf<F> present;
};

// A sample of the environment map.
template <class F>
RT_HD AnyLightSample<F> sample_environment(const rt::SceneTables& scene, const Sample2d<F>& u) {
  const EnvironmentLightSample<F> around = environment_light_sample(scene.sky, *scene.frame, u);
  const F attenuation = by_density(F(kInvPi), around.light.pdf);
  return {{around.wi, F(kInfinity), attenuation, around.light.pdf},
          around.light.radiance,
          MaskOf<F>(attenuation > F(0.0f))};
}

// A sample of the emitter to which the surface itself belongs: it is met where a ray that goes on into it leaves it.
template <class F>
RT_HD AnyLightSample<F> sample_own_emitter(const rt::Frame& frame, const AnyLightSample<F>& other,
                                           const Surface<F>& f) {
  const Entry<F> entry = enter(frame, f, other.sample.wi);
  AnyLightSample<F> a = other;
  a.present = entry.enters | (f.on_cut & other.present);
  // from a cut face, rays are tested against the solid
  a.sample.distance =
      select(entry.enters, entry.t - select(f.on_cut, F(kNearErrors) * f.error, F(0.0f)), other.sample.distance);
  const Principled<F>& m = f.bsdf.principled;
  const MaskOf<F> absorbs = entry.enters & is_glass(f.bsdf) & (m.attenuation_distance > F(0.0f));
  if (any(absorbs)) a.color = select3(absorbs, a.color * glass_transmittance(m, f.bsdf.albedo, entry.t), a.color);
  return a;
}

// A sample of the spheres that send out light.
template <class F>
RT_HD AnyLightSample<F> sample_emitter(const rt::SceneTables& scene, const PathState<F>& p, const Surface<F>& f,
                                       uint32_t seed, const Sample2d<F>& u) {
  const rt::Frame& frame = *scene.frame;
  const F choice = sample_1d<F>(seed + 0x9e3779b9u, p.x, p.y, p.sample, (uint32_t)p.depth, kUseLight);
  EmitterSample<F> e = emitter_sample(scene.emitters, emitter_count(frame), f.point.position, choice, u);
  if (clips(frame)) e = clipped_emitter(frame, e, f.point.position);
  if (large_count(frame)) e = large_emitter(scene, e, f.point.position);
  AnyLightSample<F> a = {e.sample, e.radiance, e.meets};
  if (any(e.around)) {
    const MaskOf<F> is_own = e.around & (surface_of(scene, p.prim) == e.sphere);
    if (any(is_own)) {
      const AnyLightSample<F> own = sample_own_emitter(frame, a, f);
      a.sample.distance = select(is_own, own.sample.distance, a.sample.distance);
      a.color = select3(is_own, own.color, a.color);
      a.present = (is_own & own.present) | ((!is_own) & a.present);
    }
  }
  if (has_alpha(frame))
    a.present = a.present & is_present<F>(presence_key(frame, p.x, p.y), p.sample, e.sphere, e.opacity);
  return a;
}

// number: 0 to light_samples - 1
template <class F>
RT_HD AnyLightSample<F> sample_any_light(const rt::SceneTables& scene, int32_t number, const PathState<F>& p,
                                         const Surface<F>& f) {
  const rt::Frame& frame = *scene.frame;
  if (!RT_EMITTERS || number < light_count(frame)) {
    const rt::Light& light = scene.lights[number];
    return {sample_light(frame, light, number, p, f.point.position), splat3<F>(light.color), splat_mask<F>(true)};
  }
  const uint32_t seed = frame.sampler.seed + 0x9e3779b9u * (uint32_t)number;
  const Sample2d<F> u = sample_2d<F>(seed, p.x, p.y, p.sample, (uint32_t)p.depth, kUseLight);
  return is_environment(frame, number) ? sample_environment(scene, u) : sample_emitter(scene, p, f, seed, u);
}

// What Phong's highlight shows of an environment map that is left to the paths, by a direction from its lobe: the density is
// proportional to the highlight.
template <class F>
RT_HD DirectLightSample<F> shade_highlight(const rt::SceneTables& scene, int32_t number, const PathState<F>& p,
                                           const Surface<F>& f, const Scattering<F>& s) {
  const rt::Frame& frame = *scene.frame;
  const Phong<F>& m = s.bsdf.phong;
  const F exponent = m.shininess + F(1.0f);
  const uint32_t seed = frame.sampler.seed + 0x9e3779b9u * (uint32_t)number;
  const Sample2d<F> u = sample_2d<F>(seed, p.x, p.y, p.sample, (uint32_t)p.depth, kUseLight);
  const F cosine = pow_(F(1.0f) - u.u, F(1.0f) / exponent);
  const F sine = sqrt_(max_(fma_(F(0.0f) - cosine, cosine, F(1.0f)), F(0.0f)));
  const SinCos<F> phi = sincos_turns(u.v);
  const Vec3<F> mirrored = s.basis.to_world({F(0.0f) - s.wo.x, F(0.0f) - s.wo.y, s.wo.z});
  const Vec3<F> wi = normalize(basis_about(normalize(mirrored)).to_world({sine * phi.cos, sine * phi.sin, cosine}));
  DirectLightSample<F> a;
  a.origin = f.point.position;
  a.sample = {wi, F(kInfinity), F(1.0f), F(0.0f)};
  const Vec3<F> light = environment_light(scene.sky, frame, wi).radiance;
  a.radiance = clamped(frame.integrator, p.depth + 1, (F(2.0f) * m.specular / exponent) * (p.throughput * light));
  const Entry<F> entry = enter(frame, f, wi);
  a.contributes =
      (largest(a.radiance) > F(0.0f)) & (dot(wi, f.point.normal) > F(0.0f)) & !s.bsdf.is_principled & !entry.enters;
  return a;
}

// What that sample sends to a surface. with_bsdf: as for shade_sample
template <class F>
RT_HD DirectLightSample<F> shade_light_sample(const rt::SceneTables& scene, int32_t number,
                                              const AnyLightSample<F>& light, const PathState<F>& p,
                                              const Surface<F>& f, const Scattering<F>& s, MaskOf<F> with_bsdf) {
  const bool shadows = casts_shadows(scene, number);
  DirectLightSample<F> a = shade_sample(*scene.frame, light.sample, light.color, shadows, p, f, s, with_bsdf);
  a.contributes = a.contributes & light.present;
  return a;
}

// The light sample of that number at a surface, 0 to light_samples - 1. The material is evaluated in one place for all
// kinds of light: it is most of the code of a kernel that traces paths.
template <class F>
RT_HD DirectLightSample<F> shade_light(const rt::SceneTables& scene, int32_t number, const PathState<F>& p,
                                       const Surface<F>& f, const Scattering<F>& s) {
  const rt::Frame& frame = *scene.frame;
  const bool is_listed = number < light_count(frame);
  if (!is_listed && is_environment(frame, number) && leaves_environment(frame))
    return shade_highlight(scene, number, p, f, s);
  const bool narrow = is_listed && !traces_paths(frame.integrator);
  const MaskOf<F> with_bsdf = path_goes_on(frame, p, f) | splat_mask<F>(narrow);
  return shade_light_sample(scene, number, sample_any_light(scene, number, p, f), p, f, s, with_bsdf);
}

// Whether directions sampled from narrow lobes count where they meet a light.
RT_HD bool is_bsdf_sampled(const rt::Frame& frame, const rt::Light& light) {
  return is_area_light(light) && casts_shadows(frame, light);
}

// Whether such a direction is of use. s: of surface_scattering
template <class F> RT_HD MaskOf<F> uses_bsdf_sampling(const rt::SceneTables& scene, const Scattering<F>& s) {
  const rt::Frame& frame = *scene.frame;
  const MaskOf<F> none = splat_mask<F>(false);
  if (traces_paths(frame.integrator) || !any(s.bsdf.is_principled)) return none;
  bool is_any = false;
  for (int i = 0; i < light_count(frame); ++i) is_any |= is_bsdf_sampled(frame, scene.lights[i]);
  if (!is_any) return none;
  return s.bsdf.is_principled & (s.principled.p_coat + s.principled.p_layer + s.principled.p_glass > F(0.0f));
}

// A direction from the distribution of a surface, in which the path goes on, or lights are looked for.
template <class F>
RT_HD ScatteringSample<F> sample_direction(const rt::Frame& frame, const PathState<F>& p, const Scattering<F>& s) {
  const uint32_t seed = frame.sampler.seed, depth = (uint32_t)p.depth;
  const Sample2d<F> u = sample_2d<F>(seed, p.x, p.y, p.sample, depth, kUseBsdf);
  // the number of the filter of the next bounce, which has none
  return scattering_sample(s, u, sample_1d<F>(seed, p.x, p.y, p.sample, depth + 1, kUseFilter));
}

// What an area light that casts shadows sends along such a direction, unless something is in the way.
template <class F>
RT_HD DirectLightSample<F> shade_bsdf_sampled_light(const rt::Frame& frame, const rt::Light& light,
                                                    const ScatteringSample<F>& b, const PathState<F>& p,
                                                    const Surface<F>& f) {
  DirectLightSample<F> a;
  a.origin = start_point(f, b.wi);
  const LightHit<F> hit = area_light_hit(light, a.origin, b.wi);
  a.sample = {b.wi, hit.t, hit.radiance, hit.pdf};
  const F weight = select(b.pdf > F(0.0f), power_heuristic(b.pdf, hit.pdf), F(0.0f));
  const Entry<F> entry = enter(frame, f, b.wi);
  const Vec3<F> throughput = p.throughput * b.weight;
  a.radiance = clamped(frame.integrator, p.depth + 1, (weight * hit.radiance) * (throughput * splat3<F>(light.color)));
  a.contributes = (hit.t >= F(0.0f)) & (largest(a.radiance) > F(0.0f)) & !(entry.enters & (entry.t < hit.t));
  return a;
}

// A path after a surface.
template <class F>
struct ScatterStep {
  PathStep<F> step;
  MaskOf<F> continues;
};

// b: of sample_direction, where paths are traced
template <class F>
RT_HD ScatterStep<F> scatter_path(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f,
                                  const ScatteringSample<F>& b) {
  if (!traces_paths(frame.integrator))
    return {mirror_step(frame, p, f), MaskOf<F>((!f.bsdf.is_principled) & path_continues(frame.integrator, p, f))};
  const Entry<F> entry = enter(frame, f, b.wi);
  Vec3<F> throughput = p.throughput * b.weight;
  const MaskOf<F> goes_on = path_goes_on(frame, p, f);
  const bool leaves = leaves_environment(frame);
  MaskOf<F> alive = (largest(throughput) > F(0.0f)) & (goes_on | ((b.pdf > F(0.0f)) & splat_mask<F>(leaves)));
  if (p.depth + 1 >= kRouletteDepth) {
    // inside glass radiance is less by the square of its index, which has nothing to do with what is worth tracing
    F scale = select(entry.enters & f.bsdf.is_principled, f.bsdf.principled.ior * f.bsdf.principled.ior, F(1.0f));
    if (nests(frame)) {
      const F index = select(dot(b.wi, f.point.normal) < F(0.0f), p.interior.index_beyond, p.interior.index_here);
      scale = index * index;
    }
    const F survival = min_(largest(throughput) * scale, F(1.0f));
    const F chance = sample_1d<F>(frame.sampler.seed, p.x, p.y, p.sample, (uint32_t)p.depth, kUseTermination);
    alive = alive & (chance < survival);
    throughput = by_density(F(1.0f), survival) * throughput;
  }
  PathState<F> next = p;
  next.ray = {start_point(f, b.wi), b.wi};
  next.throughput = throughput;
  next.prim = select(entry.enters, p.prim, UintOf<F>(kNoPrim));
  next.depth = p.depth + 1;
  next.scatter_pdf = leaves ? select(goes_on, b.pdf, F(0.0f) - b.pdf) : b.pdf;
  return {{next, select(entry.enters, p.prim, leaving(p, f)), select(entry.enters, entry.t, F(kInfinity))}, alive};
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_PATH_TRACING_H
