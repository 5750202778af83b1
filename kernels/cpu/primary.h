// Camera rays of one sample of a tile: made, put into packets, traced.
#pragma once
#include "../integrator/camera.h"
#include "packet.h"
#include "tile.h"

namespace RT_NS {

constexpr int kBlock = rt::kBlockRows;  // a packet is 8 x 8 pixels, a quad 4 x 4

struct TileBlocks {
  rt::TileRect rect;
  int across, down;
  explicit TileBlocks(rt::TileRect r)
      : rect(r), across((r.x1 - r.x0 + kBlock - 1) / kBlock), down((r.y1 - r.y0 + kBlock - 1) / kBlock) {}
  int count() const { return across * down; }
  int x(int block) const { return rect.x0 + block % across * kBlock; }
  int y(int block) const { return rect.y0 + block / across * kBlock; }
};

RT_HD Rect quad_rect(const PacketFrame& f, const Packet& r, int quad) {
  const float big = kInfinity;
  FW a0(big), a1(-big), b0(big), b1(-big);
  for (int at = quad * kQuad; at < (quad + 1) * kQuad; at += kWide) {
    Vec3<FW> e;
    FW inv(1.0f);
    if (f.parallel) {
      e = load3(r.origin, at) - splat3<FW>(f.apex);
    } else {
      e = load3(r.direction, at);
      inv = FW(1.0f) / dot(e, splat3<FW>(f.axis));
    }
    FW a = dot(e, splat3<FW>(f.u)) * inv, b = dot(e, splat3<FW>(f.v)) * inv;
    a0 = min_(a0, a), a1 = max_(a1, a), b0 = min_(b0, b), b1 = max_(b1, b);
  }
  return {reduce_min(a0), reduce_max(a1), reduce_min(b0), reduce_max(b1)};
}

// The pixels of a block with a corner at (x0, y0), in the order of its rays: quad by quad.
RT_HD void make_block_pixels(int x0, int y0, uint32_t* x, uint32_t* y) {
  for (int at = 0; at < kPacket; at += kWide) {
    UW i = lane_iota() + UW((uint32_t)at);
    store(x + at, UW((uint32_t)x0) + ((i >> 4) & UW(1u)) * UW(4u) + (i & UW(3u)));
    store(y + at, UW((uint32_t)y0) + (i >> 5) * UW(4u) + ((i >> 2) & UW(3u)));
  }
}

// The pixels of the tile in the order of its rays, block by block.
RT_HD void make_pixels(const TileBlocks& blocks, rt::Scratch& k) {
  for (int block = 0; block < blocks.count(); ++block)
    make_block_pixels(blocks.x(block), blocks.y(block), k.x + block * kPacket, k.y + block * kPacket);
}

// The rays of a block's pixels -> r, and the frame of their packet; kAll: as for camera_ray
template <bool kAll = RT_FULL_SHADING>
RT_HD PacketFrame make_block(const rt::SceneView& s, const uint32_t* x, const uint32_t* y, uint32_t sample, Packet& r) {
  const rt::Camera& cam = *s.camera;
  for (int at = 0; at < kPacket; at += kWide) {
    Ray<FW> ray =
        camera_ray<FW, kAll>(cam, s.frame->film, s.frame->sampler, load<UW>(x + at), load<UW>(y + at), sample);
    store3(r.origin, at, ray.origin), store3(r.direction, at, ray.direction);
    store(r.t + at, FW(kInfinity)), store(r.prim + at, UW(kNoPrim));
  }
  PacketFrame f;
  f.parallel = cam.kind == kCameraOrthographic;
  f.apex = lane3(r.origin, 0);
  f.axis = normalize(lane3(r.direction, 0) + lane3(r.direction, kPacket - 1));
  Vec3<float> right = normalize(vec3(cam.right[0], cam.right[1], cam.right[2]));
  // planes along pixel rows and columns fit the block best
  f.u = normalize(fma3(-dot(right, f.axis), f.axis, right));
  f.v = vec3(f.axis.y * f.u.z - f.axis.z * f.u.y, f.axis.z * f.u.x - f.axis.x * f.u.z,
             f.axis.x * f.u.y - f.axis.y * f.u.x);
  return f;
}

// The blocks of a very wide view are too wide for planes: their rays are traced one by one.
RT_HD bool fits_planes(const PacketFrame& f, const Packet& r) {
  if (f.parallel) return true;
  for (int at = 0; at < kPacket; at += kWide) {
    FW c = dot(load3(r.direction, at), splat3<FW>(f.axis));
    if (any(c < FW(0.5f))) return false;
  }
  return true;
}

// The rays of a packet are known to hit nothing nearer than the plane at the depth that is returned, and from their
// ends in r.t on.
template <class Filters>
RT_HD float bound_by_filters(const PacketFrame& f, Packet& r, const Filters& filters) {
  FW nearest(kInfinity);
  for (int at = 0; at < kPacket; at += kWide) {
    const HitRange<FW> range = filters.at(at).range();
    const Vec3<FW> d = load3(r.direction, at);
    const Vec3<FW> from = load3(r.origin, at);
    const FW along = dot(d, splat3<FW>(f.axis)), start = dot(from - splat3<FW>(f.apex), splat3<FW>(f.axis));
    nearest = min_(nearest, fma_(range.begin, along, start));
    store(r.t + at, min_(load<FW>(r.t + at), range.end));
  }
  const float depth = reduce_min(nearest);
  return max_(depth - kCutError * abs_(depth), 0.0f);
}

// filters: at(i) of the vector of rays at i, one(i) of ray i; is_alone: whether rays are traced one by one
template <class Filters>
RT_HD void trace_block(const rt::SceneView& s, const PacketFrame& f, Packet& r, const Filters& filters, bool is_alone) {
  if (!s.nodes) return;
  if (is_alone || s.images || !fits_planes(f, r)) {
    for (int i = 0; i < kPacket && !is_cancelled(s); ++i)
      intersect_closest(s, lane3(r.origin, i), lane3(r.direction, i), kNoPrim, r.t[i], r.prim[i], filters.one(i));
    return;
  }
  if (s.frame->scene.large_count)
    for (int at = 0; at < kPacket; at += kWide) {
      FW t = load<FW>(r.t + at);
      UW prim = load<UW>(r.prim + at);
      large_intersect_closest<FW>(s.large, s.frame->scene.large_count, load3(r.origin, at), load3(r.direction, at),
                                  UW(kNoPrim), t, prim, filters.at(at));
      store(r.t + at, t), store(r.prim + at, prim);
    }
  Rect quad[kQuads];
  for (int q = 0; q < kQuads; ++q) quad[q] = quad_rect(f, r, q);
  PacketPlanes planes;
  constexpr bool is_bounded = !decltype(filters.at(0))::kAcceptsAll;
  const bool is_clipped = is_bounded && s.frame->clip.clip_count;
  float nearest = 0.0f;
  if constexpr (is_bounded)
    if (is_clipped) nearest = bound_by_filters(f, r, filters);
  make_planes(planes, f, quad, f.parallel ? max_abs(f.apex) : 0.0f, nearest);
  if (f.parallel)
    packet_intersect_closest<false>(s, planes, r, filters);
  else
    packet_intersect_closest<true>(s, planes, r, filters);
  if (is_clipped)
    for (int at = 0; at < kPacket; at += kWide)
      store(r.t + at, select(load<UW>(r.prim + at) == UW(kNoPrim), FW(kInfinity), load<FW>(r.t + at)));
}

RT_HD void add_to_slot(rt::Scratch& k, uint32_t slot, Vec3<float> radiance) {
  k.sample[0][slot] += radiance.x, k.sample[1][slot] += radiance.y, k.sample[2][slot] += radiance.z;
}

inline void primary_wave(const rt::SceneView& s, const rt::Scratch& k, const TileBlocks& blocks, uint32_t sample,
                         rt::Wave& w) {
  w.count = blocks.count() * kPacket;
  w.depth = 0, w.sample = sample;
  for (int block = 0; block < blocks.count() && !is_cancelled(s); ++block) {
    Packet r;
    int at = block * kPacket;
    PacketFrame f = make_block(s, k.x + at, k.y + at, sample, r);
    PacketFilters<> filters = {s, r, sample, false, {}};
    for (int i = 0; i < kPacket; i += kWide) filters.set_pixels(i, load<UW>(k.x + at + i), load<UW>(k.y + at + i));
    trace_block(s, f, r, filters, RT_FULL_SHADING && !is_pinhole(*s.camera));
    for (int c = 0; c < 3; ++c) {
      memcpy(w.origin[c] + at, r.origin[c], sizeof r.origin[c]);
      memcpy(w.direction[c] + at, r.direction[c], sizeof r.direction[c]);
    }
    memcpy(w.t + at, r.t, sizeof r.t), memcpy(w.prim + at, r.prim, sizeof r.prim);
    for (int i = 0; i < kPacket; ++i) w.slot[at + i] = (uint32_t)(at + i);
  }
}

}  // namespace RT_NS
