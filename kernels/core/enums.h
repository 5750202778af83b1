// Every choice that Python knows by a word and the kernels by a number, listed once: the kernels' name,
// Python's word. Numbers count from 0 in the order of the list. Python reads them from the extension.
// The kinds that are told apart in one header are listed there: lights (shade/light.h), materials (shade/bsdf.h),
// integrators (integrator/integrators.h).
#pragma once
#include "compat.h"

#define RT_WORDS_CameraKind(E) \
  E(kCameraPerspective, "perspective") E(kCameraOrthographic, "orthographic") E(kCameraPanorama, "panorama")
#define RT_WORDS_Falloff(E) E(kFalloffNone, "none") E(kFalloffInverseSquare, "inverse-square")
#define RT_WORDS_FilterKind(E) \
  E(kFilterPoint, "point") E(kFilterBox, "box") E(kFilterTent, "tent") E(kFilterGaussian, "gaussian")
#define RT_WORDS_BackgroundKind(E) E(kBackgroundGradient, "gradient") E(kBackgroundTransparent, "transparent")
#define RT_WORDS_ColorMode(E) E(kColorUniform, "uniform") E(kColorPerSphere, "per-sphere") E(kColorIndexed, "indexed")
#define RT_WORDS_MaterialMode(E) E(kMaterialUniform, "uniform") E(kMaterialIndexed, "indexed")
#define RT_WORDS_ToneCurve(E) \
  E(kCurveLinear, "linear") E(kCurveReinhard, "reinhard") E(kCurveAces, "aces") E(kCurveAgx, "agx")
// types of numbers in arrays of other libraries, by NumPy's names
#define RT_WORDS_NumberKind(E) \
  E(kNumberFloat32, "float32") E(kNumberFloat64, "float64") E(kNumberFloat16, "float16") \
  E(kNumberUint8, "uint8") E(kNumberInt32, "int32") E(kNumberInt64, "int64")
// where colours come from: numbers from 0 to 1, or bytes, or values by a colour map
#define RT_WORDS_ColorSource(E) \
  E(kSourceNone, "none") E(kSourceLinear, "linear") E(kSourceSrgb, "srgb") E(kSourceValues, "values")
#define RT_WORDS_ValueScale(E) E(kScaleLinear, "linear") E(kScaleLog, "log") E(kScaleSymlog, "symlog")
#define RT_WORDS_PackError(E) \
  E(kErrorCenter, "center") E(kErrorRadius, "radius") E(kErrorReach, "reach") E(kErrorColor, "color")

// every enum of this file, whose list is RT_WORDS_ and its name, for code that walks all of them
#define RT_ENUMS(E)                                                                               \
  E(CameraKind) E(Falloff) E(FilterKind) E(BackgroundKind) E(ColorMode) E(MaterialMode) E(ToneCurve) \
  E(NumberKind) E(ColorSource) E(ValueScale) E(PackError)

#define RT_ENUM_NAME(name, word) name,
#define RT_ENUM_ONE(name, word) +1
#define RT_ENUM(E)                               \
  enum E : int32_t { RT_WORDS_##E(RT_ENUM_NAME) }; \
  constexpr int32_t k##E##Count = 0 RT_WORDS_##E(RT_ENUM_ONE);

namespace RT_NS {
RT_ENUMS(RT_ENUM)
}  // namespace RT_NS
