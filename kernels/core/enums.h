// Every choice that Python knows by a word and the kernels by a number, listed once: the kernels' name,
// Python's word. Numbers count from 0 in the order of the list. Python reads them from the extension.
// The kinds that are told apart in one header are listed there: lights (shade/light.h), materials (shade/bsdf.h),
// integrators (integrator/integrators.h).
#pragma once
#include "compat.h"

#define RT_CAMERA_KIND(E) \
  E(kCameraPerspective, "perspective") E(kCameraOrthographic, "orthographic") E(kCameraPanorama, "panorama")
#define RT_FALLOFF(E) E(kFalloffNone, "none") E(kFalloffInverseSquare, "inverse-square")
#define RT_FILTER_KIND(E) \
  E(kFilterPoint, "point") E(kFilterBox, "box") E(kFilterTent, "tent") E(kFilterGaussian, "gaussian")
#define RT_BACKGROUND_KIND(E) E(kBackgroundGradient, "gradient") E(kBackgroundTransparent, "transparent")
#define RT_COLOR_MODE(E) E(kColorUniform, "uniform") E(kColorPerSphere, "per-sphere") E(kColorIndexed, "indexed")
#define RT_MATERIAL_MODE(E) E(kMaterialUniform, "uniform") E(kMaterialIndexed, "indexed")
#define RT_TONE_CURVE(E) \
  E(kCurveLinear, "linear") E(kCurveReinhard, "reinhard") E(kCurveAces, "aces") E(kCurveAgx, "agx")
// types of numbers in arrays of other libraries, by NumPy's names
#define RT_NUMBER_KIND(E) \
  E(kNumberFloat32, "float32") E(kNumberFloat64, "float64") E(kNumberFloat16, "float16") \
  E(kNumberUint8, "uint8") E(kNumberInt32, "int32") E(kNumberInt64, "int64")
// where colours come from: numbers from 0 to 1, or bytes, or values by a colour map
#define RT_COLOR_SOURCE(E) \
  E(kSourceNone, "none") E(kSourceLinear, "linear") E(kSourceSrgb, "srgb") E(kSourceValues, "values")
#define RT_VALUE_SCALE(E) E(kScaleLinear, "linear") E(kScaleLog, "log") E(kScaleSymlog, "symlog")
#define RT_PACK_ERROR(E) \
  E(kErrorCenter, "center") E(kErrorRadius, "radius") E(kErrorReach, "reach") E(kErrorColor, "color")

// every enum of this file with its list, for code that walks all of them
#define RT_ENUMS(X)                                                                               \
  X(CameraKind, RT_CAMERA_KIND) X(Falloff, RT_FALLOFF)                                            \
  X(FilterKind, RT_FILTER_KIND) X(BackgroundKind, RT_BACKGROUND_KIND) X(ColorMode, RT_COLOR_MODE) \
  X(MaterialMode, RT_MATERIAL_MODE) X(ToneCurve, RT_TONE_CURVE)                                         \
  X(NumberKind, RT_NUMBER_KIND) X(ColorSource, RT_COLOR_SOURCE) X(ValueScale, RT_VALUE_SCALE)     \
  X(PackError, RT_PACK_ERROR)

#define RT_ENUM_NAME(name, word) name,
#define RT_ENUM_ONE(name, word) +1
#define RT_ENUM(E, LIST)                \
  enum E : int32_t { LIST(RT_ENUM_NAME) }; \
  constexpr int32_t k##E##Count = 0 LIST(RT_ENUM_ONE);

namespace RT_NS {
RT_ENUMS(RT_ENUM)
}  // namespace RT_NS
