// Shadow rays of a tile: collected, sorted as the light sees them, traced in packets from its side.
//
// Neighbouring pixels see surfaces at different depths, so their shadow rays spread; rays that are
// neighbours for the light stay together along their whole length.
#pragma once
#include "packet.h"
#include "tile.h"
#include "../shade/light.h"

namespace RT_NS {

// cosine against the bundle's axis below which planes are no use
constexpr float kNarrow = 0.2f;

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

RT_HD float reduce_sum(FW a) {
  alignas(64) float lane[kWide];
  store(lane, a);
  float sum = 0.0f;
  for (int i = 0; i < kWide; ++i) sum += lane[i];
  return sum;
}

RT_HD MW rays_of_light(const rt::ShadowQueue& q, int at, int light) {
  int left = q.count - at;
  MW live = mask_from_bits<MW>(left >= kWide ? 0xffffu : (1u << left) - 1u);
  return live & (load<UW>(q.light + at) == UW((uint32_t)light));
}

// Frame of the queue's rays to one light: from a point light its position and their mean direction.
RT_HD BundleFrame light_frame(const rt::Light& light, int index, const rt::ShadowQueue& q, uint32_t first) {
  BundleFrame f;
  f.parallel = light.kind == kLightDirectional;
  if (f.parallel) {
    f.axis = vec3(-light.vector[0], -light.vector[1], -light.vector[2]);
    f.apex = vec3(q.px[first], q.py[first], q.pz[first]);
  } else {
    f.apex = vec3(light.vector[0], light.vector[1], light.vector[2]);
    FW x(0.0f), y(0.0f), z(0.0f);
    for (int at = 0; at < q.count; at += kWide) {
      MW mine = rays_of_light(q, at, index);
      x = x - select(mine, load<FW>(q.lx + at), FW(0.0f));
      y = y - select(mine, load<FW>(q.ly + at), FW(0.0f));
      z = z - select(mine, load<FW>(q.lz + at), FW(0.0f));
    }
    Vec3<float> sum = vec3(reduce_sum(x), reduce_sum(y), reduce_sum(z));
    float length2 = dot(sum, sum);
    f.axis = length2 > 1e-12f ? (1.0f / sqrt_(length2)) * sum : vec3(0.0f, 0.0f, 1.0f);
  }
  make_basis(f);
  return f;
}

// Coordinates across the bundle for every ray to the light; false if they spread too far for planes.
RT_HD bool across_bundle(const BundleFrame& f, int index, rt::ShadowQueue& q, Rect& all) {
  FW a0(3e38f), a1(-3e38f), b0(3e38f), b1(-3e38f), narrowest(1.0f);
  for (int at = 0; at < q.count; at += kWide) {
    MW mine = rays_of_light(q, at, index);
    Vec3<FW> e;
    FW inv(1.0f);
    if (f.parallel) {
      e = Vec3<FW>{load<FW>(q.px + at), load<FW>(q.py + at), load<FW>(q.pz + at)} - splat3<FW>(f.apex);
    } else {
      e = FW(-1.0f) * Vec3<FW>{load<FW>(q.lx + at), load<FW>(q.ly + at), load<FW>(q.lz + at)};
      FW c = dot(e, splat3<FW>(f.axis));
      narrowest = min_(narrowest, select(mine, c, FW(1.0f)));
      inv = FW(1.0f) / max_(c, FW(kNarrow));
    }
    FW a = dot(e, splat3<FW>(f.u)) * inv, b = dot(e, splat3<FW>(f.v)) * inv;
    store(q.across_a + at, a), store(q.across_b + at, b);
    a0 = min_(a0, select(mine, a, a0)), a1 = max_(a1, select(mine, a, a1));
    b0 = min_(b0, select(mine, b, b0)), b1 = max_(b1, select(mine, b, b1));
  }
  all = {reduce_min(a0), reduce_max(a1), reduce_min(b0), reduce_max(b1)};
  return reduce_min(narrowest) > kNarrow;
}

RT_HD void sort_bundle(rt::ShadowQueue& q, int n, Rect all) {
  FW sa(all.a1 > all.a0 ? 255.0f / (all.a1 - all.a0) : 0.0f), sb(all.b1 > all.b0 ? 255.0f / (all.b1 - all.b0) : 0.0f);
  for (int i = 0; i < n; i += kWide) {
    UW k = load<UW>(q.item + i);
    UW a = to_uint((gather(q.across_a, k) - FW(all.a0)) * sa) & UW(255u);
    UW b = to_uint((gather(q.across_b, k) - FW(all.b0)) * sb) & UW(255u);
    store(q.key + i, spread_bits(a) | spread_bits(b) << 1);
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

// Returns whether the packet was worth it.
RT_HD bool trace_shadow_packet(const rt::SceneView& s, const BundleFrame& f, rt::ShadowQueue& q, const uint32_t* item, int n) {
  Packet r;
  Rect quad[kQuads];
  alignas(64) uint32_t full[kPacket];
  for (int i = 0; i < kPacket; ++i) full[i] = item[i < n ? i : n - 1];  // filled up with the last ray
  FW depth(-3e38f), reach(0.0f);
  for (int at = 0; at < kPacket; at += kWide) {
    UW k = load<UW>(full + at);
    Vec3<FW> p = {gather(q.px, k), gather(q.py, k), gather(q.pz, k)};
    store(r.ox + at, p.x), store(r.oy + at, p.y), store(r.oz + at, p.z);
    store(r.dx + at, gather(q.lx, k)), store(r.dy + at, gather(q.ly, k)), store(r.dz + at, gather(q.lz, k));
    store(r.t + at, gather(q.distance, k));
    store(r.prim + at, gather((const int32_t*)q.self, k));
    FW a = gather(q.across_a, k), b = gather(q.across_b, k);
    Rect one = {reduce_min(a), reduce_max(a), reduce_min(b), reduce_max(b)};
    Rect& mine = quad[at / kQuad];
    mine = at % kQuad ? join(mine, one) : one;
    Vec3<FW> e = p - splat3<FW>(f.apex);
    depth = max_(depth, dot(e, splat3<FW>(f.axis)));
    reach = max_(reach, max_abs(e));
  }
  PacketPlanes planes;
  float farthest = reduce_max(reach);
  make_planes(planes, f, quad, farthest, f.parallel ? -3e38f : 0.0f);
  uint64_t alive = n < kPacket ? (1ull << n) - 1 : ~0ull;
  PacketShadow shadow = packet_blocked(s, planes, r, alive, reduce_max(depth) + kBoxError * farthest);
  for (int i = 0; i < n; ++i) q.visible[item[i]] = !(shadow.blocked >> i & 1);
  for (uint64_t m = shadow.open; m; m &= m - 1) trace_one_by_one(s, q, item + __builtin_ctzll(m), 1);
  return !shadow.open;
}

// The queue's first n items in packets, or one by one for a while where packets keep giving up.
RT_HD void trace_sorted(const rt::SceneView& s, const BundleFrame& f, rt::ShadowQueue& q, int n) {
  int alone = 0, wait = 1;
  for (int at = 0; at < n; at += kPacket) {
    int rays = n - at < kPacket ? n - at : kPacket;
    if (alone > 0) {
      --alone;
      trace_one_by_one(s, q, q.item + at, rays);
    } else if (trace_shadow_packet(s, f, q, q.item + at, rays)) {
      wait = 1;
    } else {
      alone = wait, wait = wait < 16 ? 2 * wait : 16;
    }
  }
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
      if (q.light[i] == (uint32_t)light) q.item[n++] = (uint32_t)i;
    if (!n) continue;
    for (int i = n; i < n + kWide; ++i) q.item[i] = q.item[0];
    BundleFrame f = light_frame(s.lights[light], light, q, q.item[0]);
    Rect all;
    if (!across_bundle(f, light, q, all)) {
      trace_one_by_one(s, q, q.item, n);
      continue;
    }
    sort_bundle(q, n, all);
    trace_sorted(s, f, q, n);
  }
}

}  // namespace RT_NS
