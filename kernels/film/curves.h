// Tone curves: scene-linear to display-linear light, 0 to 1; values above 1 are clipped later. Input is
// between 0 and kBrightest, with the primaries of sRGB.
#pragma once
#include "../core/enums.h"
#include "../core/vec.h"

namespace RT_NS {

// Largest half float; input is clamped to it, so that squares do not overflow.
constexpr float kBrightest = 65504.0f;

// relative luminance of linear sRGB (ITU-R BT.709)
template <class F> RT_HD F luminance(Vec3<F> c) {
  return fma_(F(0.0722f), c.z, fma_(F(0.7152f), c.y, F(0.2126f) * c.x));
}

template <class F> RT_HD Vec3<F> rows3(const float (&m)[9], Vec3<F> c) {
  return {fma_(F(m[2]), c.z, fma_(F(m[1]), c.y, F(m[0]) * c.x)), fma_(F(m[5]), c.z, fma_(F(m[4]), c.y, F(m[3]) * c.x)),
          fma_(F(m[8]), c.z, fma_(F(m[7]), c.y, F(m[6]) * c.x))};
}

// Reinhard, Stark, Shirley, Ferwerda 2002, eq. 4, on luminance: `white` is the lowest luminance mapped to 1.
template <class F> RT_HD Vec3<F> curve_reinhard(Vec3<F> c, float white) {
  F l = luminance(c);
  return quotient(fma_(l, F(1.0f / (white * white)), F(1.0f)), F(1.0f) + l) * c;
}

// Stephen Hill's fit of the ACES RRT and sRGB ODT (BakingLab, ACES.hlsl), with its matrices from sRGB and back.
template <class F> RT_HD F aces_fit(F v) {
  F a = fma_(v, v + F(0.0245786f), F(-0.000090537f));
  F b = fma_(v, fma_(F(0.983729f), v, F(0.4329510f)), F(0.238081f));
  return quotient(a, b);
}
template <class F> RT_HD Vec3<F> curve_aces(Vec3<F> c) {
  const float in[9] = {0.59719f, 0.35458f, 0.04823f, 0.07600f, 0.90834f, 0.01566f, 0.02840f, 0.13383f, 0.83777f};
  const float out[9] = {1.60475f, -0.53108f, -0.07367f, -0.10208f, 1.10813f, -0.00605f, -0.00327f, -0.07276f, 1.07602f};
  Vec3<F> v = rows3(in, c);
  return rows3(out, Vec3<F>{aces_fit(v.x), aces_fit(v.y), aces_fit(v.z)});
}

// Benjamin Wrensch's fit of Troy Sobotka's AgX (iolite-engine.com, Minimal AgX Implementation): log2 between
// -12.47393 and 4.026069, a polynomial of degree 6. The fit gives code values for a display of gamma 2.2,
// which are linearised here, because every curve is followed by the sRGB encoding.
template <class F> RT_HD F agx_contrast(F ev) {
  F x = (min_(max_(ev, F(-12.47393f)), F(4.026069f)) + F(12.47393f)) * F(1.0f / 16.499999f);
  F p = fma_(x, F(15.5f), F(-40.14f));
  p = fma_(x, p, F(31.96f));
  p = fma_(x, p, F(-6.868f));
  p = fma_(x, p, F(0.4298f));
  p = fma_(x, p, F(0.1191f));
  return fma_(x, p, F(-0.00232f));
}
template <class F> RT_HD F agx_linear(F code) { return fast_pow(min_(max_(code, F(0.0f)), F(1.0f)), F(2.2f)); }
template <class F> RT_HD Vec3<F> curve_agx(Vec3<F> c) {
  const float in[9] = {0.842479062f,  0.0784336f,    0.0792237451f, 0.0423282423f, 0.878468636f,
                       0.0791661275f, 0.0423756549f, 0.0784336f,    0.879142974f};
  const float out[9] = {1.19687901f,    -0.0980208811f, -0.0990297441f, -0.0528968518f, 1.15190313f,
                        -0.0989611768f, -0.0529716355f, -0.0980434501f, 1.15107367f};
  Vec3<F> v = rows3(in, c);
  const F dark(1e-10f);  // far below the lower end of the curve
  v = {agx_contrast(fast_log2(max_(v.x, dark))), agx_contrast(fast_log2(max_(v.y, dark))),
       agx_contrast(fast_log2(max_(v.z, dark)))};
  v = rows3(out, v);
  return {agx_linear(v.x), agx_linear(v.y), agx_linear(v.z)};
}

template <class F> RT_HD Vec3<F> tone_curve(int32_t curve, float white, Vec3<F> c) {
  if (curve == kCurveReinhard) return curve_reinhard(c, white);
  if (curve == kCurveAces) return curve_aces(c);
  if (curve == kCurveAgx) return curve_agx(c);
  return c;
}

}  // namespace RT_NS
