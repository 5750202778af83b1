// Shadow rays of a tile: collected, sorted as the light sees them, traced in packets from its side.
//
// Neighbouring pixels see surfaces at different depths, so their shadow rays spread; rays that are
// neighbours for the light stay together along their whole length.
#pragma once
#include "packet.h"
#include "tile.h"
#include "../shade/light.h"

namespace RT_NS {

// in a smaller scene the packets of neighbouring pixels meet little anyway, and sorting costs more
constexpr int64_t kSortedFrom = 4096;

// minimum cosine to the axis of the packet for which planes are useful
constexpr float kNarrow = 0.2f;

// least significant digit first, eight bits a pass
RT_HD void radix_pass(const uint32_t* key, const uint32_t* item, int n, int shift, uint32_t* key_out,
                      uint32_t* item_out) {
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

// The queue's arrays are read in whole packets: fill them up with the last ray.
RT_HD void fill_last_packet(rt::ShadowQueue& q) {
  int n = q.count, end = (n + kPacket - 1) / kPacket * kPacket;
  for (int i = n; i < end; ++i) {
    set_lane3(q.origin, i, lane3(q.origin, n - 1)), set_lane3(q.direction, i, lane3(q.direction, n - 1));
    q.distance[i] = q.distance[n - 1], q.self[i] = q.self[n - 1], q.slot[i] = q.slot[n - 1];
  }
}

// Frame of the queue's rays: from a point light its position and their mean direction.
RT_HD PacketFrame light_frame(const rt::Light& light, const rt::ShadowQueue& q) {
  PacketFrame f;
  f.parallel = light.kind == kLightDirectional;
  if (f.parallel) {
    f.axis = vec3(-light.vector[0], -light.vector[1], -light.vector[2]);
    f.apex = lane3(q.origin, 0);
  } else {
    f.apex = vec3(light.vector[0], light.vector[1], light.vector[2]);
    Vec3<FW> back = {FW(0.0f), FW(0.0f), FW(0.0f)};
    for (int at = 0; at < q.count; at += kWide) back = back - load3(q.direction, at);
    Vec3<float> sum = vec3(reduce_sum(back.x), reduce_sum(back.y), reduce_sum(back.z));
    float length2 = dot(sum, sum);
    f.axis = length2 > 1e-12f ? (1.0f / sqrt_(length2)) * sum : vec3(0.0f, 0.0f, 1.0f);
  }
  make_basis(f);
  return f;
}

// Coordinates of every ray in the frame of the packet; false if they spread too far for planes.
RT_HD bool packet_coordinates(const PacketFrame& f, rt::ShadowQueue& q, Rect& all) {
  FW a0(kInfinity), a1(-kInfinity), b0(kInfinity), b1(-kInfinity), narrowest(1.0f);
  for (int at = 0; at < (q.count + kPacket - 1) / kPacket * kPacket; at += kWide) {
    Vec3<FW> e;
    FW inv(1.0f);
    if (f.parallel) {
      e = load3(q.origin, at) - splat3<FW>(f.apex);
    } else {
      e = FW(-1.0f) * load3(q.direction, at);
      FW c = dot(e, splat3<FW>(f.axis));
      narrowest = min_(narrowest, c);
      inv = FW(1.0f) / max_(c, FW(kNarrow));
    }
    FW a = dot(e, splat3<FW>(f.u)) * inv, b = dot(e, splat3<FW>(f.v)) * inv;
    store(q.across_a + at, a), store(q.across_b + at, b);
    a0 = min_(a0, a), a1 = max_(a1, a), b0 = min_(b0, b), b1 = max_(b1, b);
  }
  all = {reduce_min(a0), reduce_max(a1), reduce_min(b0), reduce_max(b1)};
  return reduce_min(narrowest) > kNarrow;
}

// q.item: the rays in the order of the bits of a and b in turn
RT_HD void sort_bundle(rt::ShadowQueue& q, Rect all) {
  FW sa(all.a1 > all.a0 ? 255.0f / (all.a1 - all.a0) : 0.0f), sb(all.b1 > all.b0 ? 255.0f / (all.b1 - all.b0) : 0.0f);
  for (int i = 0; i < q.count; i += kWide) {
    UW a = to_uint((load<FW>(q.across_a + i) - FW(all.a0)) * sa) & UW(255u);
    UW b = to_uint((load<FW>(q.across_b + i) - FW(all.b0)) * sb) & UW(255u);
    store(q.key + i, spread_bits(a) | spread_bits(b) << 1);
    store(q.item + i, lane_iota() + UW((uint32_t)i));
  }
  radix_pass(q.key, q.item, q.count, 0, q.swap_key, q.swap_item);
  radix_pass(q.swap_key, q.swap_item, q.count, 8, q.key, q.item);
  for (int i = q.count; i % kPacket; ++i) q.item[i] = q.item[q.count - 1];
}

// Traces the rays of a queue: q.visible.
struct ShadowTracer {
  const rt::SceneView& scene;
  const rt::Scratch& scratch;
  rt::ShadowQueue& q;
  uint32_t sample;

  RT_HD void trace_alone(uint32_t k) const {
    if (is_cancelled(scene)) return;
    const Vec3<float> o = lane3(q.origin, (int)k), d = lane3(q.direction, (int)k);
    const auto filter = ray_filter<float>(scene, scratch.x[q.slot[k]], scratch.y[q.slot[k]], sample, o, d, true);
    q.visible[k] = !occluded(scene, o, d, q.self[k], q.distance[k], filter);
  }

  // Rays at..at+kWide of the queue, in its own order or as sorted.
  template <bool kSorted, class T> RT_HD FW pick(const T* p, int at) const {
    if (kSorted) return gather((const float*)p, load<UW>(q.item + at));
    return load<FW>((const float*)p + at);
  }
  template <bool kSorted> RT_HD Vec3<FW> pick3(const float (&p)[3][rt::kShadowStride], int at) const {
    return {pick<kSorted>(p[0], at), pick<kSorted>(p[1], at), pick<kSorted>(p[2], at)};
  }
  template <bool kSorted> RT_HD uint32_t item(int i) const { return kSorted ? q.item[i] : (uint32_t)i; }

  // Traces the packet that begins at `first`; returns whether it was worth it.
  template <bool kSorted> RT_HD bool trace_packet(const PacketFrame& f, int first, int n) const {
    Packet r;
    PacketFilters<> filters = {scene, r, sample, true, {}};
    Rect quad[kQuads];
    FW depth(-kInfinity), reach(0.0f);
    for (int at = 0; at < kPacket; at += kWide) {
      int from = first + at;
      const Vec3<FW> p = pick3<kSorted>(q.origin, from);
      store3(r.origin, at, p), store3(r.direction, at, pick3<kSorted>(q.direction, from));
      store(r.t + at, pick<kSorted>(q.distance, from)), store(r.prim + at, as_uint(pick<kSorted>(q.self, from)));
      if (RT_ALPHA_CLIP) {
        const UW slot = as_uint(pick<kSorted>(q.slot, from));
        filters.set_pixels(at, gather((const int32_t*)scratch.x, slot), gather((const int32_t*)scratch.y, slot));
      }
      FW a = pick<kSorted>(q.across_a, from), b = pick<kSorted>(q.across_b, from);
      Rect one = {reduce_min(a), reduce_max(a), reduce_min(b), reduce_max(b)};
      Rect& mine = quad[at / kQuad];
      mine = at % kQuad ? join(mine, one) : one;
      Vec3<FW> e = p - splat3<FW>(f.apex);
      depth = max_(depth, dot(e, splat3<FW>(f.axis)));
      reach = max_(reach, max_abs(e));
    }
    PacketPlanes planes;
    float farthest = reduce_max(reach);
    make_planes(planes, f, quad, farthest, f.parallel ? -kInfinity : 0.0f);
    uint64_t alive = n < kPacket ? (1ull << n) - 1 : ~0ull;
    PacketShadow shadow = packet_occluded(scene, planes, r, alive, reduce_max(depth) + kBoxError * farthest, filters);
    for (int i = 0; i < n; ++i) q.visible[item<kSorted>(first + i)] = !(shadow.blocked >> i & 1);
    for (uint64_t m = shadow.open; m; m &= m - 1) trace_alone(item<kSorted>(first + __builtin_ctzll(m)));
    return !shadow.open;
  }

  // All rays in packets, or one by one for a while where packets keep giving up.
  template <bool kSorted> RT_HD void trace_packets(const PacketFrame& f) const {
    int alone = 0, wait = 1;
    for (int at = 0; at < q.count; at += kPacket) {
      int n = q.count - at < kPacket ? q.count - at : kPacket;
      if (alone > 0) {
        --alone;
        for (int i = 0; i < n; ++i) trace_alone(item<kSorted>(at + i));
      } else if (trace_packet<kSorted>(f, at, n)) {
        wait = 1;
      } else {
        alone = wait, wait = wait < 16 ? 2 * wait : 16;
      }
    }
  }

  // The large spheres, which are not in the tree.
  void trace_large() const {
    for (int at = 0; at < q.count; at += kWide) {
      const Vec3<FW> o = load3(q.origin, at), d = load3(q.direction, at);
      const UW slot = load<UW>(q.slot + at);
      const auto filter = ray_filter<FW>(scene, gather((const int32_t*)scratch.x, slot),
                                         gather((const int32_t*)scratch.y, slot), sample, o, d, true);
      uint32_t blocked = bits(large_occluded<FW>(scene.large, scene.frame->scene.large_count, o, d,
                                                 load<UW>(q.self + at), load<FW>(q.distance + at), filter));
      for (; blocked; blocked &= blocked - 1) {
        int k = at + __builtin_ctz(blocked);
        if (k < q.count) q.visible[k] = 0;
      }
    }
  }
};

// q.visible for every ray of the queue
inline void trace_shadows(const rt::SceneView& s, const rt::Scratch& k, uint32_t sample, const rt::Light& light,
                          rt::ShadowQueue& q) {
  const ShadowTracer tracer = {s, k, q, sample};
  if (!q.count || !s.nodes) {
    memset(q.visible, 1, (size_t)q.count);
    return;
  }
  fill_last_packet(q);
  PacketFrame f = light_frame(light, q);
  Rect all;
  if (s.images || !packet_coordinates(f, q, all)) {
    for (int i = 0; i < q.count; ++i) tracer.trace_alone((uint32_t)i);
  } else if (s.sphere_count > kSortedFrom) {
    sort_bundle(q, all);
    tracer.trace_packets<true>(f);
  } else {
    tracer.trace_packets<false>(f);
  }
  if (s.frame->scene.large_count) tracer.trace_large();
}

}  // namespace RT_NS
