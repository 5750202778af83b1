// The integrators by their kind; schedulers know none by name.
#if defined(RT_FIELD_LISTS)  // of core/structs.h
#include "ao.h"
#include "direct.h"
#include "path_tracing.h"

#define RT_INTEGRATOR_SETTINGS(F) RT_DIRECT(F) RT_AO(F) RT_PATH(F)

#elif !defined(RT_INTEGRATOR_INTEGRATORS_H)
#define RT_INTEGRATOR_INTEGRATORS_H
#include "ao.h"

#define RT_WORDS_IntegratorKind(E) E(kIntegratorDirect, "direct") E(kIntegratorAo, "ao") E(kIntegratorPath, "path")

namespace RT_NS {

RT_ENUM(IntegratorKind)

// Whether rays may pass surfaces of a picture, for which code needs RT_ALPHA_CLIP.
RT_HD bool filters_hits(const rt::Frame& frame) { return frame.scene.has_alpha || frame.clip.clip_count > 0; }

// Whether a picture needs what RT_FULL_SHADING adds: paths, materials other than Phong's, area lights or
// without shadows, an environment map, a lens or a panorama, a ground that catches shadows.
RT_HD bool needs_path_tracing(const rt::Frame& frame, const rt::Camera& camera, const rt::Light* lights,
                              const rt::Material* materials) {
  bool needed = frame.integrator.kind == kIntegratorPath || frame.environment_map.map_size > 0 || !is_pinhole(camera) ||
                frame.environment.shadow_catcher;
  for (int i = 0; i < frame.scene.light_count; ++i) needed |= lights[i].extent > 0.0f || !lights[i].shadow;
  for (int i = 0; i < frame.scene.material_count; ++i) needed |= materials[i].kind != kMaterialPhong;
  return needed;
}

RT_HD bool traces_paths(const rt::Integrator& integrator) {
  if (!RT_FULL_SHADING || !RT_LOCAL_INTEGRATORS) return RT_FULL_SHADING;
  return RT_PATH_INTEGRATOR && integrator.kind == kIntegratorPath;
}

// Occlusion rays that leave each surface (shade_ao); 0: its ambient light comes without any (shade_ambient).
RT_HD int32_t ao_rays(const rt::Integrator& integrator) {
  if (RT_INTEGRATORS && RT_LOCAL_INTEGRATORS && integrator.kind == kIntegratorAo) return integrator.ao_samples;
  return 0;
}

}  // namespace RT_NS

#endif  // RT_INTEGRATOR_INTEGRATORS_H
