// The media of the paths of a tile where solids of glass are nested: a ray at a time, between two bounces.
#pragma once
#include "primary.h"
#include "../integrator/media.h"

namespace RT_NS {

// As integrator/media.h asks for rays.
struct MediaTracer {
  const rt::SceneView& scene;

  RT_HD Primitive<float> primitive(uint32_t prim) const { return load_primitive(scene, prim); }
  RT_HD void intersect_closest(PathState<float>& p, uint32_t self, float& t) const {
    const auto filter = ray_filter<float>(scene, p.x, p.y, p.sample, p.ray.origin, p.ray.direction);
    RT_NS::intersect_closest(scene, p.ray.origin, p.ray.direction, self, t, p.prim, filter);
  }
  RT_HD void intersect_closest_except(PathState<float>& p, const uint32_t* except, float& t) const {
    const HitsExcept filter = {
        sample_hits<float>(scene, presence_key(*scene.frame, p.x, p.y), p.sample, p.ray.origin, p.ray.direction),
        except};
    RT_NS::intersect_closest(scene, p.ray.origin, p.ray.direction, kNoPrim, t, p.prim, filter);
  }
};

// The path of one ray of a wave.
RT_HD PathState<float> wave_path(const rt::Scratch& k, const rt::Wave& w, int i) {
  const uint32_t slot = w.depth ? w.slot[i] : (uint32_t)i;
  PathState<float> p = {};
  p.ray = {lane3(w.origin, i), lane3(w.direction, i)};
  p.throughput = vec3(1.0f, 1.0f, 1.0f);
  p.prim = w.prim[i], p.x = k.x[slot], p.y = k.y[slot], p.sample = w.sample, p.depth = w.depth;
  if (!w.depth) return p;
  p.throughput = lane3(w.throughput, i);
  p.scatter_pdf = w.scatter_pdf[i];
  for (int j = 0; j < kInteriorSolids; ++j) p.interior.solid[j] = w.solid[j][i];
  return p;
}

// Leads the rays of a wave on to surfaces that are there, where solids of glass are nested, with the light of what they
// cross.
inline void cross_wave(const rt::SceneView& s, rt::Scratch& k, rt::Wave& w) {
  const MediaTracer tracer = {s};
  for (int i = 0; i < w.count; ++i) {
    PathState<float> p = wave_path(k, w, i);
    if (!w.depth) enter_camera_media(s, p);
    Vec3<float> lit = vec3(0.0f, 0.0f, 0.0f);
    if (w.depth) lit = crossed_lights(s, p, w.t[i]);
    lit = lit + cross_media(s, tracer, p);
    if (w.depth) add_to_slot(k, w.slot[i], lit);
    set_lane3(w.origin, i, p.ray.origin), set_lane3(w.throughput, i, p.throughput);
    w.prim[i] = p.prim, w.scatter_pdf[i] = p.scatter_pdf;
    w.index_here[i] = p.interior.index_here, w.index_beyond[i] = p.interior.index_beyond;
    for (int j = 0; j < kInteriorSolids; ++j) w.solid[j][i] = p.interior.solid[j];
  }
}

// What cross_wave left of the paths of the vector at `at`.
RT_HD void load_media(const rt::Wave& w, int at, PathState<FW>& p) {
  p.throughput = load3(w.throughput, at);
  p.interior.index_here = load<FW>(w.index_here + at), p.interior.index_beyond = load<FW>(w.index_beyond + at);
  for (int j = 0; j < kInteriorSolids; ++j) p.interior.solid[j] = load<UW>(w.solid[j] + at);
}

// The media of the paths of a vector that go on, appended to the next bounce.
RT_HD void queue_media(const rt::SceneView& s, const PathState<FW>& from, const Surface<FW>& f, PathState<FW> p,
                       uint32_t mask, rt::Wave& next) {
  leave_surface(s, from, f, p);
  for (int j = 0; j < kInteriorSolids; ++j) store_packed(next.solid[j] + next.count, p.interior.solid[j], mask);
}

}  // namespace RT_NS
