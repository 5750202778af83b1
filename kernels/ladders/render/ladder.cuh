// The rungs below the production kernels: one thread a pixel, which takes its rays to the spheres by the
// rung's own walk. A rung that leaves something out of the picture fixes those fields of camera and frame
// at compile time, so that the compiler drops the code and the bodies stay the shared ones.
#pragma once
#include "../../cuda/pixel.cuh"

namespace RT_NS {

// what a picture holds; each word includes those before it
enum Shows : int32_t { kFlat, kPerspective, kPhong, kShadows, kMirrors, kSamples };

template <Shows shows>
RT_DEVICE rt::Camera shown_camera(rt::Camera camera) {
  if (shows < kPerspective) camera.kind = kCameraOrthographic;
  return camera;
}

template <Shows shows>
RT_DEVICE rt::Frame shown_frame(rt::Frame frame) {
  if (shows < kPhong) frame.scene.light_count = 0;
  if (shows < kShadows) frame.integrator.shadows = 0;
  if (shows < kMirrors) frame.integrator.max_depth = 0;
  if (shows < kSamples) frame.sampler.filter = kFilterPoint;
  return frame;
}

template <Shows shows, class Walk>
RT_DEVICE void render_shown(const rt::RenderArgs& args, Walk walk) {
  const rt::Camera camera = shown_camera<shows>(c_camera);
  const rt::Frame frame = shown_frame<shows>(c_frame);
  render_pixel(args, walk, camera, frame, shows < kSamples ? 1 : args.sample_count);
}

}  // namespace RT_NS
