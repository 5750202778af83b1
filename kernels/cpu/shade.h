// Shading of one bounce of a tile, a vector of rays at a time.
#pragma once
#include "primary.h"
#include "shadow.h"
#include "../integrator/integrator.h"
#include "../shade/background.h"

namespace RT_NS {

RT_HD Phong<FW> load_material(const rt::SceneView& s, UW sphere) {
  const float* m = &s.materials[0].ambient;
  if (s.frame->material_mode == 0) return {FW(m[0]), FW(m[1]), FW(m[2]), FW(m[3]), FW(m[4])};
  UW at = gather(s.material_id, sphere) * UW((uint32_t)(sizeof(rt::Material) / sizeof(float)));
  return {gather(m, at), gather(m + 1, at), gather(m + 2, at), gather(m + 3, at), gather(m + 4, at)};
}

RT_HD Vec3<FW> load_albedo(const rt::SceneView& s, UW sphere) {
  if (s.frame->color_mode == 0) return splat3<FW>(s.color);
  UW at = s.frame->color_mode == 1 ? sphere : gather(s.color_id, sphere);
  at = at + at + at;
  return {gather(s.color, at), gather(s.color + 1, at), gather(s.color + 2, at)};
}

RT_HD Surface<FW> load_surface(const rt::SceneView& s, const rt::Wave& w, int at, UW prim) {
  UW c = prim << 2;
  Vec3<FW> center = {gather(s.spheres, c), gather(s.spheres + 1, c), gather(s.spheres + 2, c)};
  Vec3<FW> o = {load<FW>(w.ox + at), load<FW>(w.oy + at), load<FW>(w.oz + at)};
  Vec3<FW> d = {load<FW>(w.dx + at), load<FW>(w.dy + at), load<FW>(w.dz + at)};
  Surface<FW> f;
  f.radius = gather(s.spheres + 3, c);
  f.point = surface_point<FW>(s.large, s.frame->large_count, prim, center, f.radius, o, d);
  UW sphere = gather(s.order, prim);
  f.albedo = load_albedo(s, sphere);
  f.material = load_material(s, sphere);
  return f;
}

RT_HD void add_lanes(float* to, FW add, MW mask) {
  FW old = load<FW>(to);
  store(to, select(mask, old + add, old));
}

RT_HD void add_radiance(rt::Scratch& k, const rt::Wave& w, int at, uint32_t mask, Vec3<FW> add) {
  if (w.is_primary) {  // slot == place in the wave
    MW m = mask_from_bits<MW>(mask);
    add_lanes(k.r + at, add.x, m), add_lanes(k.g + at, add.y, m), add_lanes(k.b + at, add.z, m);
    return;
  }
  alignas(64) float r[kWide], g[kWide], b[kWide];
  store(r, add.x), store(g, add.y), store(b, add.z);
  for (; mask; mask &= mask - 1) {
    int i = __builtin_ctz(mask);
    uint32_t slot = w.slot[at + i];
    k.r[slot] += r[i], k.g[slot] += g[i], k.b[slot] += b[i];
  }
}

// Lights first..end - 1, for which there is a queue each.
struct LightGroup {
  int first, end;
};

RT_HD LightGroup light_group(const rt::Frame& frame, int first) {
  int end = first + rt::kShadowQueues;
  return {first, end < frame.light_count ? end : frame.light_count};
}

// Trace what is queued for a group of lights and add what arrives: for each camera ray in their order.
inline void trace_group(const rt::SceneView& s, rt::Scratch& k, LightGroup g) {
  for (int light = g.first; light < g.end; ++light) {
    rt::ShadowQueue& q = k.shadow[light - g.first];
    if (is_cancelled(s)) {
      q.count = 0;
      continue;
    }
    trace_shadows(s, s.lights[light], q);
    for (int i = 0; i < q.count; ++i) {
      // no branch: half of the rays are blocked, in no order
      uint32_t slot = q.slot[i];
      float seen = (float)q.visible[i];
      k.r[slot] += seen * q.r[i], k.g[slot] += seen * q.g[i], k.b[slot] += seen * q.b[i];
    }
    q.count = 0;
  }
}

RT_HD void queue_shadows(rt::ShadowQueue& q, const rt::Wave& w, int at, uint32_t mask, const Surface<FW>& f,
                         const LightSample<FW>& l, Vec3<FW> add) {
  int n = q.count;
  store_packed(q.px + n, f.point.position.x, mask), store_packed(q.py + n, f.point.position.y, mask);
  store_packed(q.pz + n, f.point.position.z, mask), store_packed(q.distance + n, l.distance, mask);
  store_packed(q.lx + n, l.wi.x, mask), store_packed(q.ly + n, l.wi.y, mask), store_packed(q.lz + n, l.wi.z, mask);
  store_packed(q.r + n, add.x, mask), store_packed(q.g + n, add.y, mask), store_packed(q.b + n, add.z, mask);
  store_packed(q.slot + n, load<UW>(w.slot + at), mask), store_packed(q.self + n, load<UW>(w.prim + at), mask);
  q.count += __builtin_popcount(mask);
}

RT_HD void shade_lights(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int at, uint32_t hits, const Surface<FW>& f,
                        FW throughput, LightGroup g) {
  Vec3<FW> direction = {load<FW>(w.dx + at), load<FW>(w.dy + at), load<FW>(w.dz + at)};
  for (int i = g.first; i < g.end; ++i) {
    LightArrival<FW> a = light_arrival(s.lights[i], f, direction, throughput);
    uint32_t lit = hits & bits(a.faces);
    if (!s.frame->shadows)
      add_radiance(k, w, at, lit, a.radiance);
    else
      queue_shadows(k.shadow[i - g.first], w, at, lit & ~bits(a.own_shadow), f, a.sample, a.radiance);
  }
}

// The rays of the vector at `at` that hit something.
RT_HD uint32_t hits_at(const rt::Wave& w, int at, UW prim) {
  int left = w.count - at;
  uint32_t live = left >= kWide ? (uint32_t)((1ull << kWide) - 1) : (1u << left) - 1u;
  return live & ~bits(prim == UW(kNoPrim));
}

// Trace the shadow rays of begin..end - 1 and add what arrives. The first group of lights is queued; for
// those that have no queue of their own the surfaces are loaded again, group by group, so that a thread's
// memory does not grow with the number of lights.
inline void flush_shadows(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int begin, int end) {
  LightGroup g = light_group(*s.frame, 0);
  trace_group(s, k, g);
  for (g = light_group(*s.frame, g.end); s.frame->shadows && g.first < g.end && !is_cancelled(s);
       g = light_group(*s.frame, g.end)) {
    for (int at = begin; at < end; at += kWide) {
      UW prim = load<UW>(w.prim + at);
      uint32_t hits = hits_at(w, at, prim);
      if (!hits) continue;
      Surface<FW> f = load_surface(s, w, at, select(mask_from_bits<MW>(hits), prim, UW(0u)));
      shade_lights(s, k, w, at, hits, f, load<FW>(w.throughput + at), g);
    }
    trace_group(s, k, g);
  }
  k.queued = 0;
}

// The mirrored rays of a vector, appended to the next bounce.
RT_HD void queue_mirrors(const rt::Wave& w, int at, uint32_t mask, const Surface<FW>& f, FW throughput, rt::Wave& next) {
  Vec3<FW> d = {load<FW>(w.dx + at), load<FW>(w.dy + at), load<FW>(w.dz + at)};
  MirrorRay<FW> m = mirror_ray(f, d);
  alignas(64) float v[8][kWide];
  store(v[0], m.origin.x), store(v[1], m.origin.y), store(v[2], m.origin.z);
  store(v[3], m.direction.x), store(v[4], m.direction.y), store(v[5], m.direction.z);
  store(v[6], throughput), store(v[7], m.own_t);
  uint32_t inside = bits(f.point.inside);
  for (; mask; mask &= mask - 1) {
    int i = __builtin_ctz(mask), n = next.count++;
    next.ox[n] = v[0][i], next.oy[n] = v[1][i], next.oz[n] = v[2][i];
    next.dx[n] = v[3][i], next.dy[n] = v[4][i], next.dz[n] = v[5][i];
    next.throughput[n] = v[6][i];
    next.slot[n] = w.slot[at + i], next.self[n] = w.prim[at + i];
    // a ray that stays inside meets its own sphere again after one chord
    next.t[n] = inside >> i & 1 ? v[7][i] : kInfinity;
    next.prim[n] = inside >> i & 1 ? w.prim[at + i] : kNoPrim;
  }
}

RT_HD void shade_misses(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int at, uint32_t mask, int depth,
                        const TileBlocks& blocks, FW throughput) {
  FW height;
  if (depth == 0) {
    UW i = lane_iota() + UW((uint32_t)(at % kPacket));
    height = background_height_row<FW>(s.frame->height, UW((uint32_t)blocks.y(at / kPacket)) + (i >> 5) * UW(4u) + ((i >> 2) & UW(3u)));
  } else {
    height = background_height_direction(*s.frame, Vec3<FW>{load<FW>(w.dx + at), load<FW>(w.dy + at), load<FW>(w.dz + at)});
  }
  add_radiance(k, w, at, mask, throughput * background(*s.frame, height));
}

// Adds what the wave's rays see to the tile, and fills the next bounce.
inline void shade_wave(const rt::SceneView& s, rt::Scratch& k, const rt::Wave& w, int depth, const TileBlocks& blocks, rt::Wave& next) {
  next.count = 0;
  next.is_primary = false;
  const LightGroup all = {0, s.frame->light_count};
  const LightGroup direct = s.frame->shadows ? light_group(*s.frame, 0) : all;
  int begin = 0;
  for (int at = 0; at < w.count && !is_cancelled(s); at += kWide) {
    int left = w.count - at;
    uint32_t live = left >= kWide ? (uint32_t)((1ull << kWide) - 1) : (1u << left) - 1u;
    UW prim = load<UW>(w.prim + at);
    uint32_t hits = live & ~bits(prim == UW(kNoPrim));
    FW throughput = load<FW>(w.throughput + at);
    if (live & ~hits) shade_misses(s, k, w, at, live & ~hits, depth, blocks, throughput);
    if (depth == 0)
      for (uint32_t m = live; m; m &= m - 1) {
        int i = __builtin_ctz(m);
        k.alpha[at + i] = (float)(hits >> i & 1);
      }
    if (!hits) continue;
    Surface<FW> f = load_surface(s, w, at, select(mask_from_bits<MW>(hits), prim, UW(0u)));
    add_radiance(k, w, at, hits, ambient_radiance(*s.frame, f, throughput));
    if ((k.queued += kWide) > rt::kShadowBatch) flush_shadows(s, k, w, begin, at), begin = at, k.queued = kWide;
    shade_lights(s, k, w, at, hits, f, throughput, direct);
    uint32_t mirrors = hits & bits(f.material.mirror > FW(0.0f));
    if (mirrors && depth < s.frame->max_depth) queue_mirrors(w, at, mirrors, f, throughput * f.material.mirror, next);
  }
  flush_shadows(s, k, w, begin, w.count);
}

}  // namespace RT_NS
