// The integrators by their kind. A scheduler traces the rays that these functions and those of direct.h ask for, and
// knows no integrator by name.
#if defined(RT_FIELD_LISTS)  // of core/structs.h
#include "ao.h"
#include "direct.h"
#include "path_tracing.h"

#define RT_INTEGRATOR_SETTINGS(F) RT_DIRECT(F) RT_AO(F) RT_PATH(F)

#elif !defined(RT_INTEGRATOR_INTEGRATORS_H)
#define RT_INTEGRATOR_INTEGRATORS_H
#include "ao.h"

#define RT_INTEGRATOR_KIND(E) E(kIntegratorDirect, "direct") E(kIntegratorAo, "ao") E(kIntegratorPath, "path")

namespace RT_NS {

RT_ENUM(IntegratorKind, RT_INTEGRATOR_KIND)

// Whether a picture needs what RT_PATH_TRACING adds: paths, materials other than Phong's, lights with an extent or
// without shadows, opacity, clipping planes, an image of the sky, a lens or a panorama, a ground that catches shadows.
RT_HD bool needs_path_tracing(const rt::Frame& frame, const rt::Camera& camera, const rt::Light* lights,
                              const rt::Material* materials) {
  bool needed = frame.integrator.kind == kIntegratorPath || frame.scene.translucent || frame.clip.clip_count > 0 ||
                frame.sky.sky_size > 0 || !is_pinhole(camera) || frame.environment.shadow_catcher;
  for (int i = 0; i < frame.scene.light_count; ++i) needed |= lights[i].extent > 0.0f || !lights[i].shadow;
  for (int i = 0; i < frame.scene.material_count; ++i) needed |= materials[i].kind != kMaterialPhong;
  return needed;
}

// Rays to the sky that leave each surface (shade_sky); 0: its ambient light comes without any (shade_ambient).
RT_HD int32_t sky_rays(const rt::Integrator& integrator) {
  if (RT_INTEGRATORS && integrator.kind == kIntegratorAo) return integrator.ao_samples;
  return 0;
}

// how far a ray to the sky goes, in render space
RT_HD float sky_distance(const rt::Integrator& integrator) { return integrator.ao_distance; }

// Which paths continue from their surfaces, and how: along mirrors (direct.h), with every integrator so far.
template <class F> RT_HD MaskOf<F> path_continues(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  return path_continues(frame.integrator, p, f);
}

template <class F> RT_HD PathStep<F> next_step(const rt::Frame& frame, const PathState<F>& p, const Surface<F>& f) {
  return mirror_step(frame, p, f);
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_INTEGRATORS_H
