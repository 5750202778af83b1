// First hits of a row of blocks of pixels, traced as packets.
#pragma once
#include "../integrator/first_hit.h"
#include "primary.h"

namespace RT_NS {

// What ray i of a packet met.
RT_HD rt::FirstHit packet_hit(const rt::SceneView& s, const Packet& r, int i) {
  const uint32_t prim = r.prim[i];
  if (prim == kNoPrim) return no_hit();
  Primitive<float> primitive = load_primitive(s, row_of(s, prim));
#if RT_IMAGES
  primitive = in_image(s, primitive, prim);
#endif
  return first_hit(s, prim, primitive, r.t[i], lane3(r.origin, i), lane3(r.direction, i));
}

// row: number of the row of blocks
void first_hit_rows(const rt::SceneView& s, rt::FirstHits out, int row) {
  const rt::Film& film = s.frame->film;
  const int y0 = film.y0 + row * kBlock, width = film.x1 - film.x0;
  alignas(64) uint32_t x[kPacket], y[kPacket];
  for (int x0 = film.x0; x0 < film.x1 && !is_cancelled(s); x0 += kBlock) {
    Packet r;
    make_block_pixels(x0, y0, x, y);
    const PacketFrame f = make_block<true>(s, x, y, kCenterSample, r);
    // a lens does not part these rays
    const PacketFilters<true> filters = {s, r, kCenterSample, false, {}};
    trace_block(s, f, r, filters, s.camera->kind == kCameraPanorama);
    for (int i = 0; i < kPacket; ++i) {
      if ((int)x[i] >= film.x1 || (int)y[i] >= film.y1) continue;
      const int64_t at = (int64_t)((int)y[i] - film.y0) * width + ((int)x[i] - film.x0);
      if (out.hits)
        out.hits[at] = packet_hit(s, r, i);
      else
        out.numbers[at] = r.prim[i] == kNoPrim ? kNoSphere : number_of(s, r.prim[i], surface_of(s, r.prim[i]));
    }
  }
}

}  // namespace RT_NS
