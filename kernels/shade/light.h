// Lights by their kinds: sampled from a point of a surface, evaluated for a ray, and the density of the samples.
// wi points from the surface towards the light, unit; distances are in render space. Area lights:
// area_light.h.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

// extent: of a point the radius, of a directional light the square of the sine of half its angle, of others the
// area; 0: none. u and v: half the sides of a rectangle, semi-axes of a disk; normal: unit, where these shine.
#define RT_FIELDS_Light(F)                                                                               \
  F(float, vector, 3) F(int32_t, kind, 1)      /* directional: towards it; others: centre */      \
  F(float, color, 3) F(int32_t, falloff, 1)    /* color: linear */                                \
  F(float, u, 3) F(float, extent, 1) F(float, v, 3) F(int32_t, shadow, 1) /* shadow: whether it casts any */ \
  F(float, normal, 3) F(float, pad, 1)

#elif !defined(RT_SHADE_LIGHT_H)
#define RT_SHADE_LIGHT_H
#include "../core/enums.h"
#include "../core/structs.h"
#include "../core/vec.h"

#define RT_WORDS_LightKind(E) \
  E(kLightPoint, "point") E(kLightDirectional, "directional") E(kLightRectangle, "rectangle") E(kLightDisk, "disk")

namespace RT_NS {

RT_ENUM(LightKind)

template <class F>
struct LightSample {
  Vec3<F> wi;     // unit
  F distance;     // to the light; kInfinity for a directional one
  F attenuation;  // factor on the light's colour
  F pdf;          // of the direction, per solid angle; 0: it is the only one
};

// A light without extent.
template <class F> RT_HD LightSample<F> light_sample(const rt::Light& light, Vec3<F> position) {
  Vec3<F> v = splat3<F>(light.vector);
  if (light.kind == kLightDirectional) return {v, F(kInfinity), F(1.0f), F(0.0f)};
  Vec3<F> to = v - position;
  F distance2 = dot(to, to);
  F inv = F(1.0f) / sqrt_(distance2);
  return {inv * to, distance2 * inv, light.falloff == kFalloffInverseSquare ? inv * inv : F(1.0f), F(0.0f)};
}

}  // namespace RT_NS

#endif  // RT_SHADE_LIGHT_H
