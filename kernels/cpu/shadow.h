// Shadow rays of a tile: collected, sorted as the light sees them, traced in packets from its side.
//
// Neighbouring pixels see surfaces at different depths, so their shadow rays spread; rays that are
// neighbours for the light stay together along their whole length.
#pragma once
#include "packet.h"
#include "tile.h"
#include "../shade/light.h"

namespace RT_NS {

// least significant digit first, eight bits a pass
RT_HD void radix_pass(const uint32_t* key, const uint32_t* item, int n, int shift, uint32_t* key_out, uint32_t* item_out) {
  uint32_t at[257] = {0};
  for (int i = 0; i < n; ++i) ++at[(key[i] >> shift & 255u) + 1];
  for (int d = 0; d < 256; ++d) at[d + 1] += at[d];
  for (int i = 0; i < n; ++i) {
    uint32_t k = at[key[i] >> shift & 255u]++;
    key_out[k] = key[i], item_out[k] = item[i];
  }
}

// bits of x at even places
template <class U> RT_HD U spread_bits(U x) {
  x = (x | x << 4) & U(0x0f0f0f0fu);
  x = (x | x << 2) & U(0x33333333u);
  return (x | x << 1) & U(0x55555555u);
}

// Frame of the rays item[0..n): from a point light its position and their mean direction.
RT_HD BundleFrame light_frame(const rt::Light& light, const rt::ShadowQueue& q, const uint32_t* item, int n) {
  BundleFrame f;
  f.parallel = light.kind == kLightDirectional;
  if (f.parallel) {
    f.axis = vec3(-light.vector[0], -light.vector[1], -light.vector[2]);
    f.apex = vec3(q.px[item[0]], q.py[item[0]], q.pz[item[0]]);
  } else {
    f.apex = vec3(light.vector[0], light.vector[1], light.vector[2]);
    Vec3<float> sum = vec3(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < n; ++i) sum = sum - vec3(q.lx[item[i]], q.ly[item[i]], q.lz[item[i]]);
    float length2 = dot(sum, sum);
    f.axis = length2 > 1e-12f ? (1.0f / sqrt_(length2)) * sum : vec3(0.0f, 0.0f, 1.0f);
  }
  make_basis(f);
  return f;
}

// Coordinates across the bundle for every item; false if the rays spread too far for planes.
RT_HD bool across_bundle(const BundleFrame& f, rt::ShadowQueue& q, const uint32_t* item, int n, Rect& all) {
  all = {3e38f, -3e38f, 3e38f, -3e38f};
  bool narrow = true;
  for (int i = 0; i < n; ++i) {
    uint32_t k = item[i];
    Vec3<float> e = vec3(q.px[k], q.py[k], q.pz[k]) - f.apex;
    float inv = 1.0f;
    if (!f.parallel) {
      e = vec3(-q.lx[k], -q.ly[k], -q.lz[k]);
      float c = dot(e, f.axis);
      narrow = narrow && c > 0.2f;
      inv = 1.0f / max_(c, 0.2f);
    }
    float a = dot(e, f.u) * inv, b = dot(e, f.v) * inv;
    q.a0[k] = a, q.a1[k] = b;
    all = join(all, Rect{a, a, b, b});
  }
  return narrow;
}

RT_HD void sort_bundle(rt::ShadowQueue& q, int n, Rect all) {
  float sa = all.a1 > all.a0 ? 255.0f / (all.a1 - all.a0) : 0.0f;
  float sb = all.b1 > all.b0 ? 255.0f / (all.b1 - all.b0) : 0.0f;
  for (int i = 0; i < n; ++i) {
    uint32_t k = q.item[i];
    uint32_t a = to_uint((q.a0[k] - all.a0) * sa), b = to_uint((q.a1[k] - all.b0) * sb);
    q.key[i] = spread_bits(a) | spread_bits(b) << 1;
  }
  radix_pass(q.key, q.item, n, 0, q.swap_key, q.swap_item);
  radix_pass(q.swap_key, q.swap_item, n, 8, q.key, q.item);
}

RT_HD void trace_one_by_one(const rt::SceneView& s, rt::ShadowQueue& q, const uint32_t* item, int n) {
  for (int i = 0; i < n; ++i) {
    uint32_t k = item[i];
    q.visible[k] = !any_hit(s, vec3(q.px[k], q.py[k], q.pz[k]), vec3(q.lx[k], q.ly[k], q.lz[k]), q.self[k], q.distance[k]);
  }
}

RT_HD void trace_shadow_packet(const rt::SceneView& s, const BundleFrame& f, rt::ShadowQueue& q, const uint32_t* item, int n) {
  Packet r;
  Rect quad[kQuads];
  float depth_limit = -3e38f, reach = 0.0f;
  for (int i = 0; i < kPacket; ++i) {
    uint32_t k = item[i < n ? i : n - 1];  // the last packet is filled up with its last ray
    r.ox[i] = q.px[k], r.oy[i] = q.py[k], r.oz[i] = q.pz[k];
    r.dx[i] = q.lx[k], r.dy[i] = q.ly[k], r.dz[i] = q.lz[k];
    r.t[i] = q.distance[k], r.prim[i] = q.self[k];
    Rect one = {q.a0[k], q.a0[k], q.a1[k], q.a1[k]};
    quad[i / kQuad] = i % kQuad ? join(quad[i / kQuad], one) : one;
    Vec3<float> e = vec3(r.ox[i], r.oy[i], r.oz[i]) - f.apex;
    depth_limit = max_(depth_limit, dot(e, f.axis));
    reach = max_(reach, max_abs(e));
  }
  PacketPlanes planes;
  make_planes(planes, f, quad, reach);
  uint64_t alive = n < kPacket ? (1ull << n) - 1 : ~0ull;
  uint64_t blocked = packet_blocked(s, planes, r, alive, depth_limit + kBoxError * reach);
  for (int i = 0; i < n; ++i) q.visible[item[i]] = !(blocked >> i & 1);
}

// q.visible for every ray of the queue
inline void trace_shadows(const rt::SceneView& s, rt::ShadowQueue& q) {
  if (!s.nodes) {
    memset(q.visible, 1, (size_t)q.count);
    return;
  }
  for (int light = 0; light < s.frame->light_count; ++light) {
    int n = 0;
    for (int i = 0; i < q.count; ++i)
      if (q.light[i] == light) q.item[n++] = (uint32_t)i;
    if (!n) continue;
    BundleFrame f = light_frame(s.lights[light], q, q.item, n);
    Rect all;
    if (!across_bundle(f, q, q.item, n, all)) {
      trace_one_by_one(s, q, q.item, n);
      continue;
    }
    sort_bundle(q, n, all);
    for (int at = 0; at < n; at += kPacket) trace_shadow_packet(s, f, q, q.item + at, n - at < kPacket ? n - at : kPacket);
  }
}

}  // namespace RT_NS
