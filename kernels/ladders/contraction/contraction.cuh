// The gradient on elements of n^3 points: the operator d applied along each of the three axes.
//   u, gx, gy, gz  [elements][n][n][n], the last index k fastest
//   d              [n][n], row: point of the result, column: point of u
// n and the type are macros, so that every loop has a constant length.
#pragma once
#include "../../core/compat.h"

#ifndef RT_N
#define RT_N 8
#endif
#ifndef RT_T
#define RT_T float
#endif

namespace rt {

using Real = RT_T;
constexpr int kN = RT_N;
constexpr int kPlaneSize = kN * kN;
constexpr int kSize = kN * kN * kN;
static_assert((kN >= 2 && kN <= 16) || kN == 20, "2 to 16 or 20 points a side");

RT_DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
RT_DEVICE double multiply_add(double a, double b, double c) { return fma(a, b, c); }

// kWidth neighbouring values along k that are loaded and stored together, 16 bytes where n allows.
constexpr int kWidth = kN % 4 == 0 && sizeof(Real) == 4 ? 4 : kN % 2 == 0 ? 2 : 1;

struct alignas(sizeof(Real) * kWidth) Pack {
  Real v[kWidth];
};
RT_DEVICE Pack load_pack(const Real* from) { return *(const Pack*)from; }
// By this function, because the compiler splits assignments of vectors.
RT_DEVICE void store(float* to, const float (&v)[4]) { __stwb((float4*)to, make_float4(v[0], v[1], v[2], v[3])); }
RT_DEVICE void store(float* to, const float (&v)[2]) { __stwb((float2*)to, make_float2(v[0], v[1])); }
RT_DEVICE void store(double* to, const double (&v)[2]) { __stwb((double2*)to, make_double2(v[0], v[1])); }
RT_DEVICE void store(Real* to, const Real (&v)[1]) { *to = v[0]; }
RT_DEVICE void store_pack(Real* to, const Pack& pack) { store(to, pack.v); }

}  // namespace rt
