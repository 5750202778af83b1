// The integrators by their kind. A scheduler traces the rays that these functions and those of direct.h ask for, and
// knows no integrator by name.
#pragma once
#include "ao.h"

namespace RT_NS {

// Rays to the sky that leave each surface (shade_sky); 0: its ambient light comes without any (shade_ambient).
RT_HD int32_t sky_rays(const rt::Integrator& integrator) {
  if (RT_INTEGRATORS && integrator.kind == kIntegratorAo) return integrator.ao_samples;
  return 0;
}

// how far a ray to the sky goes, in render space
RT_HD float sky_distance(const rt::Integrator& integrator) { return integrator.ao_distance; }

}  // namespace RT_NS
