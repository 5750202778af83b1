// What a ray sees that hits nothing: a gradient from `bottom` to `top`. Behind the spheres it is vertical in
// the picture; a mirror shows it as an environment about the scene's up axis, so that reflections stay where
// they are while the camera turns.
#if defined(RT_FIELD_LISTS)  // of core/structs.h

#define RT_FIELDS_Environment(F)                                                                         \
  F(float, background_bottom, 3) F(int32_t, background_kind, 1) /* linear RGB; BackgroundKind */  \
  F(float, background_top, 3) F(int32_t, shadow_catcher, 1) /* number of the ground and 1; 0: none */ \
  F(float, ambient, 3) F(float, environment_light, 1) /* of the environment map on white that faces up, R + G + B */ \
  F(float, background_up, 3) F(float, pad2, 1) /* unit: the up axis of what mirrors reflect */

#elif !defined(RT_SHADE_BACKGROUND_H)
#define RT_SHADE_BACKGROUND_H
#include "../core/enums.h"
#include "../core/structs.h"
#include "../core/vec.h"

namespace RT_NS {

// linear RGB at height h in [0, 1] (0: bottom)
template <class F> RT_HD Vec3<F> gradient(const float* bottom, const float* top, F h) {
  Vec3<F> low = splat3<F>(bottom);
  return fma3(h, splat3<F>(top) - low, low);
}

template <class F> RT_HD Vec3<F> background(const rt::Environment& e, F h) {
  if (e.background_kind == kBackgroundTransparent) return {F(0.0f), F(0.0f), F(0.0f)};
  return gradient(e.background_bottom, e.background_top, h);
}

// height for a camera ray: of the centre of its pixel's row; rows: of the full picture
template <class F> RT_HD F background_height_row(int32_t rows, UintOf<F> y) {
  return fma_(to_float(y) + F(0.5f), F(-1.0f / (float)rows), F(1.0f));
}

// height for a mirrored ray: the cosine to the scene's up axis, from -1..1 to 0..1; direction: unit
template <class F> RT_HD F background_height_direction(const rt::Environment& e, Vec3<F> direction) {
  return fma_(dot(direction, splat3<F>(e.background_up)), F(0.5f), F(0.5f));
}

}  // namespace RT_NS

#endif  // RT_SHADE_BACKGROUND_H
