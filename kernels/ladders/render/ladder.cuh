// Variants before the production kernels: one thread per pixel, with the traversal of the variant. A variant
// that omits a part of the picture fixes the fields of camera and frame at compile time, so that the compiler
// removes the code and all variants share the bodies.
#pragma once
#include "../../cuda/pixel.cuh"

namespace RT_NS {

// Contents of a picture; each level includes those before it.
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

template <Shows shows, class Traversal>
RT_DEVICE void render_shown(const rt::RenderArgs& args, Traversal traversal) {
  const rt::Camera camera = shown_camera<shows>(c_camera);
  const rt::Frame frame = shown_frame<shows>(c_frame);
  render_pixel(args, traversal, camera, frame, shows < kSamples ? 1 : args.sample_count);
}

}  // namespace RT_NS
