// What a kernel is compiled for, beside the materials of shade/bsdf.h and opacity and clipping planes (core/compat.h). A
// scene without a feature is rendered by a kernel that has no code for it; one that has all of them renders every scene
// to the same bytes.
#pragma once
#include "../core/structs.h"

#if !defined(RT_LARGE_SPHERES)
#define RT_LARGE_SPHERES 1
#endif
#if !defined(RT_LIGHTS)  // those that a scene lists; its ambient light, sky and emitters are no such lights
#define RT_LIGHTS 1
#endif
#if !defined(RT_INTEGRATORS)  // other than `direct`
#define RT_INTEGRATORS 1
#endif
#if !defined(RT_DRAFTS)  // pictures whose ambient occlusion is filtered (draft.h)
#define RT_DRAFTS 1
#endif
// of kernels that trace paths
#if !defined(RT_PATH_INTEGRATOR)  // `path`
#define RT_PATH_INTEGRATOR 1
#endif
#if !defined(RT_LOCAL_INTEGRATORS)  // `direct` and `ao`
#define RT_LOCAL_INTEGRATORS 1
#endif
#if !defined(RT_EMITTERS)  // spheres that send out light, and an environment map
#define RT_EMITTERS 1
#endif
#if !defined(RT_NESTED)  // solids of glass within and across each other
#define RT_NESTED 1
#endif
#if !defined(RT_SHADOW_CATCHER)  // a ground of which shadows alone are seen
#define RT_SHADOW_CATCHER 1
#endif

namespace RT_NS {

// spheres beside the tree, geom/large_sphere.h
RT_HD int32_t large_count(const rt::Frame& frame) { return RT_LARGE_SPHERES ? frame.scene.large_count : 0; }

RT_HD bool clips(const rt::Frame& frame) { return RT_ALPHA_CLIP && frame.clip.clip_count > 0; }
RT_HD bool has_alpha(const rt::Frame& frame) { return RT_ALPHA_CLIP && frame.scene.has_alpha; }
RT_HD bool nests(const rt::Frame& frame) { return RT_NESTED && frame.media.nested; }
RT_HD bool catches_shadows(const rt::Frame& frame) { return RT_SHADOW_CATCHER && frame.environment.shadow_catcher; }
RT_HD int32_t light_count(const rt::Frame& frame) { return RT_LIGHTS ? frame.scene.light_count : 0; }
RT_HD int32_t emitter_count(const rt::Frame& frame) { return RT_EMITTERS ? frame.scene.emitter_count : 0; }
RT_HD bool has_environment_map(const rt::Frame& frame) { return RT_EMITTERS && frame.environment_map.map_size > 0; }

}  // namespace RT_NS
