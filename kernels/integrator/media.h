// What paths cross between two bounces where solids of glass overlap (interior.h): the media, and surfaces that are not
// there. One ray at a time, on both sides.
#pragma once
#include "path_tracing.h"

namespace RT_NS {

constexpr int kMostHidden = 1 << 12;  // surfaces crossed without a bounce
constexpr float kCertainPdf = 1e30f;  // of a direction that no light sample stands for

// What fills a place. solid: as in Interior, 0: air.
struct Medium {
  uint32_t solid;
  float index, priority;
  bool whole;  // glass alone, without a share of another surface
};

RT_HD uint32_t material_number(const rt::SceneTables& s, uint32_t solid) {
  return s.frame->scene.material_mode == kMaterialUniform ? 0u : (uint32_t)s.material_id[solid - 1];
}

// The medium inside a solid; air where it is not of glass.
RT_HD Medium load_medium(const rt::SceneTables& s, uint32_t solid) {
  const Medium air = {0u, 1.0f, 0.0f, false};
  if (!solid) return air;
  const rt::Material& m = s.materials[material_number(s, solid)];
  const float share = (1.0f - m.principled.metallic) * m.principled.transmission;
  if (m.kind != kMaterialPrincipled || !(share > 0.0f)) return air;
  return {solid, m.principled.ior, m.principled.priority, share == 1.0f};
}

// Whether a fills the place where both are.
RT_HD bool fills(const Medium& a, const Medium& b) {
  if (!a.solid || !b.solid) return a.solid != 0;
  return a.priority > b.priority || (a.priority == b.priority && a.solid > b.solid);
}

// What fills the place of a path, but for one solid.
RT_HD Medium filling(const rt::SceneTables& s, const Interior<float>& interior, uint32_t except) {
  Medium found = load_medium(s, 0u);
  for (int i = 0; i < kInteriorSolids; ++i) {
    if (!interior.solid[i] || interior.solid[i] == except) continue;
    const Medium other = load_medium(s, interior.solid[i]);
    if (fills(other, found)) found = other;
  }
  return found;
}

// Whether two solids are of the same glass.
RT_HD bool is_same_glass(const rt::SceneTables& s, const Medium& a, const Medium& b) {
  if (!a.whole || !b.whole || material_number(s, a.solid) != material_number(s, b.solid)) return false;
  const Vec3<float> difference = load_albedo<float>(s, a.solid - 1) - load_albedo<float>(s, b.solid - 1);
  return dot(difference, difference) == 0.0f;
}

// Share of light that a medium lets through.
RT_HD Vec3<float> medium_transmittance(const rt::SceneTables& s, const Medium& m, float length) {
  if (!m.solid) return vec3(1.0f, 1.0f, 1.0f);
  const Principled<float> p = load_principled<float>(s.materials, material_number(s, m.solid));
  if (!(p.attenuation_distance > 0.0f)) return vec3(1.0f, 1.0f, 1.0f);
  return glass_transmittance(p, load_albedo<float>(s, m.solid - 1), length);
}

// The media on both sides of a surface that a path meets.
struct MediaChange {
  Medium here, beyond;
  bool hidden;  // the surface is not there
};

RT_HD MediaChange media_change(const rt::SceneTables& s, const PathState<float>& p, const Surface<float>& f) {
  const uint32_t solid = (uint32_t)s.order[p.prim] + 1;
  const Medium own = load_medium(s, solid), others = filling(s, p.interior, solid);
  if (!own.solid) return {others, others, false};
  const bool fills_it = fills(own, others);
  const Medium inner = fills_it ? own : others;
  const bool hidden = !fills_it || (others.solid && is_same_glass(s, own, others));
  return f.point.inside ? MediaChange{inner, others, hidden} : MediaChange{others, inner, hidden};
}

// Solids in which a camera ray begins.
RT_HD void enter_camera_media(const rt::SceneTables& s, PathState<float>& p) {
  const rt::Media& at = s.frame->media;
  for (int i = 0; i < at.camera_count; ++i) {
    const float* sphere = at.camera_sphere + 4 * i;
    const Vec3<float> away = p.ray.origin - vec3(sphere[0], sphere[1], sphere[2]);
    const uint32_t surface = at.camera_solid[i];
    bool inside = dot(away, away) < sphere[3] * sphere[3];
    if (inside && is_translucent(*s.frame) && s.opacity)
      inside = is_present<float>(s.frame->sampler.seed, p.x, p.y, p.sample, surface, s.opacity[surface]);
    update_interior<float>(p.interior, surface + 1, inside, false);
  }
}

// A path goes straight on across a surface that is not there. Light samples of the bounce before it end at that
// surface, and so what the path meets beyond it counts in full.
template <class Tracer>
RT_HD void cross_hidden(const rt::SceneTables& s, const Tracer& tracer, const Surface<float>& f, PathState<float>& p,
                        float& t) {
  const Entry<float> entry = enter(*s.frame, f, p.ray.direction);
  const uint32_t self = entry.enters ? p.prim : leaving(p, f);
  update_interior<float>(p.interior, (uint32_t)s.order[p.prim] + 1, !f.point.inside, f.point.inside);
  if (p.scatter_pdf > 0.0f) p.scatter_pdf = kCertainPdf;
  p.ray.origin = start_point(f, p.ray.direction);
  p.prim = entry.enters ? p.prim : kNoPrim;
  t = entry.enters ? entry.t : kInfinity;
  tracer.intersect_closest(p, self, t);
}

// Lights with an extent that a ray crosses before t.
RT_HD Vec3<float> crossed_lights(const rt::SceneTables& s, const PathState<float>& p, float t) {
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  for (int i = 0; i < s.frame->scene.light_count; ++i)
    if (has_extent(s.lights[i])) radiance = radiance + shade_crossing(*s.frame, s.lights[i], p, t);
  return radiance;
}

// From the surface that a ray meets on to the first one that is there, if any: the light that media let through, and the
// indices on both sides of the surface. Returns the radiance of lights that the path crosses on its way, those before the
// first surface excluded. Tracer: Primitive<float> primitive(prim); void intersect_closest(path, self, t)
template <class Tracer>
RT_HD Vec3<float> cross_media(const rt::SceneTables& s, const Tracer& tracer, PathState<float>& p) {
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  for (int hidden = 0; p.prim != kNoPrim; ++hidden) {
    const Surface<float> f = path_surface(s, p, tracer.primitive(p.prim));
    const MediaChange media = media_change(s, p, f);
    const Vec3<float> way = f.point.position - p.ray.origin;
    p.throughput = p.throughput * medium_transmittance(s, media.here, sqrt_(dot(way, way)));
    p.interior.index_here = media.here.index, p.interior.index_beyond = media.beyond.index;
    if (!media.hidden || hidden == kMostHidden) break;
    float t;
    cross_hidden(s, tracer, f, p, t);
    if (p.depth > 0) radiance = radiance + crossed_lights(s, p, t);
  }
  return radiance;
}

// The list of a path that has left the surface f of the path `from`.
template <class F>
RT_HD void leave_surface(const rt::SceneTables& s, const PathState<F>& from, const Surface<F>& f, PathState<F>& p) {
  const Principled<F>& m = f.bsdf.principled;
  const MaskOf<F> passes = f.bsdf.is_principled & ((F(1.0f) - m.metallic) * m.transmission > F(0.0f)) &
                           (dot(p.ray.direction, f.point.normal) < F(0.0f));
  const UintOf<F> solid = gather(s.order, from.prim) + UintOf<F>(1u);
  update_interior<F>(p.interior, solid, passes & !f.point.inside, passes & f.point.inside);
}

}  // namespace RT_NS
