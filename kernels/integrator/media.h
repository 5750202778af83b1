// What paths cross between two bounces where solids of glass overlap (interior.h): the media, and surfaces that are not
// there. One ray at a time, on both sides.
#pragma once
#include "path_tracing.h"

namespace RT_NS {

constexpr int kMaxHidden = 1 << 12;  // surfaces crossed without a bounce
constexpr float kCertainPdf = 1e30f;  // of a direction that no light sample stands for

// What fills a place. solid: as in Interior, 0: air.
struct Medium {
  uint32_t solid;
  float index, priority;
  bool whole;  // glass alone, without a share of another surface
};

// The number of a primitive's solid in a path's list.
RT_HD uint32_t solid_of(const rt::SceneTables& s, uint32_t prim) { return (uint32_t)s.order[prim] + 1; }
#if RT_SOLIDS
RT_HD uint32_t solid_of(const rt::SceneTables& s, uint32_t prim, const Primitive<float>& primitive) {
  return entered_solid(primitive, (uint32_t)s.order[prim]) + 1;
}
#define RT_SOLID_OF(s, prim, primitive) solid_of(s, prim, primitive)
#else  // the code for spheres alone is to the bit what it was before there were meshes
#define RT_SOLID_OF(s, prim, primitive) solid_of(s, prim)
#endif

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
  const uint32_t solid = RT_SOLID_OF(s, p.prim, f.primitive);
  const Medium own = load_medium(s, solid), others = filling(s, p.interior, solid);
  if (!own.solid) return {others, others, false};
  const bool fills_it = fills(own, others);
  const Medium inner = fills_it ? own : others;
  const bool hidden = !fills_it || (others.solid && is_same_glass(s, own, others));
  return f.point.inside ? MediaChange{inner, others, hidden} : MediaChange{others, inner, hidden};
}

#if RT_ALPHA_CLIP && RT_NESTED

// A face in which planes cut several solids; one side of it is empty. prim: the one that fills the other side. A solid
// that is not of glass fills any. others: solids of a path's list behind the face
struct CutFace {
  uint32_t prim;
  Medium inner;
  uint32_t others[kInteriorSolids];
};

// The face of a cut that a path meets. q: a path from the surface point on, q.prim a solid there. The surface point is
// just before the plane, and all solids of the face end at the same t, that of the plane: the next one is what the ray
// meets up to there when those found are left out. Called: rare, and its registers are its own.
template <class Tracer>
RT_COLD CutFace cut_face(const rt::SceneTables& s, const Tracer& tracer, PathState<float> q, bool inside) {
  uint32_t found[kInteriorSolids] = {q.prim, kNoPrim, kNoPrim, kNoPrim};
  CutFace face = {q.prim, load_medium(s, solid_of(s, q.prim)), {0u, 0u, 0u, 0u}};
  const ClipSpan<float> span = clip_span(s.frame->clip, q.ray.origin, q.ray.direction);
  const float plane = inside ? min_(span.begin, span.last) : span.end;
  for (int i = 1; i < kInteriorSolids && face.inner.solid; ++i) {
    float t = plane * (1.0f + 8.0f * kSurfaceError);  // hits count before t alone
    q.prim = kNoPrim;
    tracer.intersect_closest_except(q, found, t);
    if (q.prim == kNoPrim) break;
    found[i] = q.prim;
    const Medium other = load_medium(s, solid_of(s, q.prim));
    if (!other.solid || fills(other, face.inner)) face.inner = other, face.prim = q.prim;
  }
  for (int i = 0; i < kInteriorSolids; ++i)
    if (found[i] != kNoPrim && found[i] != face.prim) face.others[i] = solid_of(s, found[i]);
  return face;
}

// As media_change, where planes cut what the path meets: p.prim becomes what fills the place, and behind the face the
// path is in the solids found there.
template <class Tracer>
RT_HD MediaChange cut_media_change(const rt::SceneTables& s, const Tracer& tracer, PathState<float>& p,
                                   const Surface<float>& f) {
  PathState<float> q = {};
  q.ray = {f.point.position, p.ray.direction};
  q.prim = p.prim, q.x = p.x, q.y = p.y, q.sample = p.sample;
  const CutFace face = cut_face(s, tracer, q, f.point.inside);
  const Medium air = load_medium(s, 0u);
  p.prim = face.prim;
  if (f.point.inside) return {face.inner, air, false};
  for (int i = 0; i < kInteriorSolids; ++i) p.interior.solid[i] = face.others[i];
  return {air, face.inner, false};
}

#endif

// Solids in which a camera ray begins.
RT_HD void enter_camera_media(const rt::SceneTables& s, PathState<float>& p) {
  const rt::Media& at = s.frame->media;
  for (int i = 0; i < at.camera_count; ++i) {
    const float* sphere = at.camera_sphere + 4 * i;
    const Vec3<float> away = p.ray.origin - vec3(sphere[0], sphere[1], sphere[2]);
    const uint32_t surface = at.camera_solid[i];
    bool inside = dot(away, away) < sphere[3] * sphere[3];
    if (inside && has_alpha(*s.frame) && s.opacity)
      inside = is_present<float>(presence_key(*s.frame, p.x, p.y), p.sample, surface, s.opacity[surface]);
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
  update_interior<float>(p.interior, RT_SOLID_OF(s, p.prim, f.primitive), !f.point.inside, f.point.inside);
  if (p.scatter_pdf > 0.0f) p.scatter_pdf = kCertainPdf;
  p.ray.origin = start_point(f, p.ray.direction);
  p.prim = entry.enters ? p.prim : kNoPrim;
  t = entry.enters ? entry.t : kInfinity;
  tracer.intersect_closest(p, self, t);
}

// Area lights that a ray crosses before t.
RT_HD Vec3<float> crossed_lights(const rt::SceneTables& s, const PathState<float>& p, float t) {
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  for (int i = 0; i < light_count(*s.frame); ++i)
    if (is_area_light(s.lights[i])) radiance = radiance + shade_crossing(*s.frame, s.lights[i], p, t);
  return radiance;
}

// From the surface that a ray meets on to the first one that is there, if any: the light that media let through, and the
// indices on both sides of the surface. Returns the radiance of lights that the path crosses on its way, those before the
// first surface excluded. Tracer: Primitive<float> primitive(prim); void intersect_closest(path, self, t);
// void intersect_closest_except(path, primitives, t), which leaves kInteriorSolids of them out
template <class Tracer>
RT_HD Vec3<float> cross_media(const rt::SceneTables& s, const Tracer& tracer, PathState<float>& p) {
  Vec3<float> radiance = vec3(0.0f, 0.0f, 0.0f);
  for (int hidden = 0; p.prim != kNoPrim; ++hidden) {
    const Surface<float> f = path_surface(s, p, tracer.primitive(p.prim));
#if RT_ALPHA_CLIP && RT_NESTED
    const bool is_cut = clips(*s.frame) && f.on_cut;
    const MediaChange media = is_cut ? cut_media_change(s, tracer, p, f) : media_change(s, p, f);
#else
    const MediaChange media = media_change(s, p, f);
#endif
    const Vec3<float> way = f.point.position - p.ray.origin;
    p.throughput = p.throughput * medium_transmittance(s, media.here, sqrt_(dot(way, way)));
    p.interior.index_here = media.here.index, p.interior.index_beyond = media.beyond.index;
    if (!media.hidden || hidden == kMaxHidden) break;
    float t;
    cross_hidden(s, tracer, f, p, t);
    if (p.depth > 0) radiance = radiance + crossed_lights(s, p, t);
  }
  return radiance;
}

// The list of a path that has left the surface f of the path `from`. One side of a cut face is empty.
template <class F>
RT_HD void leave_surface(const rt::SceneTables& s, const PathState<F>& from, const Surface<F>& f, PathState<F>& p) {
  const MaskOf<F> passes = is_glass(f.bsdf) & (dot(p.ray.direction, f.point.normal) < F(0.0f));
#if RT_SOLIDS
  const UintOf<F> solid = entered_solid(f.primitive, gather(s.order, from.prim)) + UintOf<F>(1u);
#else
  const UintOf<F> solid = gather(s.order, from.prim) + UintOf<F>(1u);
#endif
  update_interior<F>(p.interior, solid, passes & !f.point.inside, passes & f.point.inside);
  const MaskOf<F> is_out = f.on_cut & ((passes & f.point.inside) | ((!passes) & !f.point.inside));
  for (int i = 0; i < kInteriorSolids; ++i) p.interior.solid[i] = select(is_out, UintOf<F>(0u), p.interior.solid[i]);
}

}  // namespace RT_NS
