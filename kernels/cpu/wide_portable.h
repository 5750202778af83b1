// Wide<8> of two vectors of four lanes, which GCC and Clang have on any processor (SSE2, NEON); included by wide.h
// alone. A vector of eight would be taken apart lane by lane where the processor has none.
#pragma once
#if RT_X86
#include <xmmintrin.h>
#endif

namespace RT_NS {

typedef float RtF4 __attribute__((vector_size(16)));
typedef uint32_t RtU4 __attribute__((vector_size(16)));
typedef int32_t RtI4 __attribute__((vector_size(16)));
template <> struct WideM<8> {
  RtI4 a, b;
};
template <> struct Wide<8> {
  RtF4 a, b;
  RT_HD Wide() {}
  RT_HD Wide(RtF4 low, RtF4 high) : a(low), b(high) {}
  RT_HD explicit Wide(float v) : a(RtF4{v, v, v, v}), b(a) {}
};
template <> struct WideU<8> {
  RtU4 a, b;
  RT_HD WideU() {}
  RT_HD WideU(RtU4 low, RtU4 high) : a(low), b(high) {}
  RT_HD explicit WideU(uint32_t v) : a(RtU4{v, v, v, v}), b(a) {}
};
using F8 = Wide<8>;
using U8 = WideU<8>;
using M8 = WideM<8>;
RT_HD F8 operator+(F8 x, F8 y) { return {x.a + y.a, x.b + y.b}; }
RT_HD F8 operator-(F8 x, F8 y) { return {x.a - y.a, x.b - y.b}; }
RT_HD F8 operator*(F8 x, F8 y) { return {x.a * y.a, x.b * y.b}; }
RT_HD F8 operator/(F8 x, F8 y) { return {x.a / y.a, x.b / y.b}; }
RT_HD M8 operator<(F8 x, F8 y) { return {x.a < y.a, x.b < y.b}; }
RT_HD M8 operator>(F8 x, F8 y) { return {x.a > y.a, x.b > y.b}; }
RT_HD M8 operator<=(F8 x, F8 y) { return {x.a <= y.a, x.b <= y.b}; }
RT_HD M8 operator>=(F8 x, F8 y) { return {x.a >= y.a, x.b >= y.b}; }
RT_HD M8 operator==(F8 x, F8 y) { return {x.a == y.a, x.b == y.b}; }
RT_HD M8 operator&(M8 x, M8 y) { return {x.a & y.a, x.b & y.b}; }
RT_HD M8 operator|(M8 x, M8 y) { return {x.a | y.a, x.b | y.b}; }
RT_HD M8 operator!(M8 x) { return {~x.a, ~x.b}; }
// A lane's bit from its mask; the sum has no carries.
RT_HD uint32_t bits(M8 m) {
  const RtI4 low = m.a & RtI4{1, 2, 4, 8}, high = m.b & RtI4{16, 32, 64, 128}, both = low | high;
  return (uint32_t)(both[0] | both[1] | both[2] | both[3]);
}
RT_HD F8 fma_(F8 x, F8 y, F8 z) { return {x.a * y.a + z.a, x.b * y.b + z.b}; }
RT_HD F8 min_(F8 x, F8 y) { return {x.a < y.a ? x.a : y.a, x.b < y.b ? x.b : y.b}; }
RT_HD F8 max_(F8 x, F8 y) { return {x.a > y.a ? x.a : y.a, x.b > y.b ? x.b : y.b}; }
RT_HD float reduce_max(F8 x) {
  const RtF4 m = x.a > x.b ? x.a : x.b;
  return max_(max_(m[0], m[1]), max_(m[2], m[3]));
}
RT_HD RtF4 sqrt_(RtF4 v) {
#if RT_X86
  return _mm_sqrt_ps(v);
#else
  return RtF4{__builtin_sqrtf(v[0]), __builtin_sqrtf(v[1]), __builtin_sqrtf(v[2]), __builtin_sqrtf(v[3])};
#endif
}
RT_HD F8 sqrt_(F8 x) { return {sqrt_(x.a), sqrt_(x.b)}; }
// As floorf, without a call: from 2^23 on every number is whole, and -0 keeps its sign.
RT_HD RtF4 floor_(RtF4 v) {
  const RtU4 sign = (RtU4)v & 0x80000000u;
  const RtF4 whole = __builtin_convertvector(__builtin_convertvector(v, RtI4), RtF4);
  const RtF4 down = whole > v ? whole - 1.0f : whole;
  return (RtF4)((RtU4)v & 0x7fffffffu) < 8388608.0f ? (RtF4)((RtU4)down | sign) : v;
}
RT_HD F8 floor_(F8 x) { return {floor_(x.a), floor_(x.b)}; }
RT_HD U8 as_uint(F8 x) { return {(RtU4)x.a, (RtU4)x.b}; }
RT_HD F8 as_float(U8 x) { return {(RtF4)x.a, (RtF4)x.b}; }
RT_HD F8 abs_(F8 x) { return {(RtF4)((RtU4)x.a & 0x7fffffffu), (RtF4)((RtU4)x.b & 0x7fffffffu)}; }
RT_HD F8 select(M8 m, F8 x, F8 y) { return {m.a ? x.a : y.a, m.b ? x.b : y.b}; }
RT_HD U8 select(M8 m, U8 x, U8 y) { return {m.a ? x.a : y.a, m.b ? x.b : y.b}; }
RT_HD U8 operator+(U8 x, U8 y) { return {x.a + y.a, x.b + y.b}; }
RT_HD U8 operator-(U8 x, U8 y) { return {x.a - y.a, x.b - y.b}; }
RT_HD U8 operator*(U8 x, U8 y) { return {x.a * y.a, x.b * y.b}; }
RT_HD U8 operator&(U8 x, U8 y) { return {x.a & y.a, x.b & y.b}; }
RT_HD U8 operator|(U8 x, U8 y) { return {x.a | y.a, x.b | y.b}; }
RT_HD U8 operator^(U8 x, U8 y) { return {x.a ^ y.a, x.b ^ y.b}; }
RT_HD U8 operator<<(U8 x, int n) { return {x.a << (uint32_t)n, x.b << (uint32_t)n}; }
RT_HD U8 operator>>(U8 x, int n) { return {x.a >> (uint32_t)n, x.b >> (uint32_t)n}; }
RT_HD M8 operator==(U8 x, U8 y) { return {x.a == y.a, x.b == y.b}; }
RT_HD M8 operator<(U8 x, U8 y) { return {(RtI4)x.a < (RtI4)y.a, (RtI4)x.b < (RtI4)y.b}; }
RT_HD F8 to_float(U8 x) { return {__builtin_convertvector((RtI4)x.a, RtF4), __builtin_convertvector((RtI4)x.b, RtF4)}; }
RT_HD U8 to_uint(F8 x) {
  return {(RtU4) __builtin_convertvector(x.a, RtI4), (RtU4) __builtin_convertvector(x.b, RtI4)};
}
RT_HD F8 load(const float* p, F8*) {
  F8 x;
  memcpy(&x.a, p, 16), memcpy(&x.b, p + 4, 16);
  return x;
}
RT_HD void store(float* p, F8 x) { memcpy(p, &x.a, 16), memcpy(p + 4, &x.b, 16); }
RT_HD U8 load(const uint32_t* p, U8*) {
  U8 x;
  memcpy(&x.a, p, 16), memcpy(&x.b, p + 4, 16);
  return x;
}
RT_HD void store(uint32_t* p, U8 x) { memcpy(p, &x.a, 16), memcpy(p + 4, &x.b, 16); }
RT_HD M8 mask_from_bits(uint32_t bits, M8*) {
  const int32_t s = (int32_t)bits;
  const RtI4 all = {s, s, s, s}, low = {1, 2, 4, 8}, high = {16, 32, 64, 128};
  return {(all & low) == low, (all & high) == high};
}
template <class T, class V> RT_HD V gather4(const T* base, RtU4 i) {
  typedef decltype(V{}[0] + V{}[0]) Lane;
  return V{(Lane)base[i[0]], (Lane)base[i[1]], (Lane)base[i[2]], (Lane)base[i[3]]};
}
RT_HD F8 gather(const float* base, U8 i) { return {gather4<float, RtF4>(base, i.a), gather4<float, RtF4>(base, i.b)}; }
RT_HD U8 gather(const int32_t* base, U8 i) {
  return {gather4<int32_t, RtU4>(base, i.a), gather4<int32_t, RtU4>(base, i.b)};
}
RT_HD void store_packed(float* p, F8 x, uint32_t mask) {
  float lane[8];
  store(lane, x);
  for (int i = 0; i < 8; ++i)
    if (mask >> i & 1) *p++ = lane[i];
}
RT_HD uint32_t bytes_with_8(const uint8_t* p, uint32_t bit) {
  uint32_t with = 0;
  for (int i = 0; i < 8; ++i) with |= (uint32_t)((p[i] & bit) != 0) << i;
  return with;
}
RT_HD F8 load_bytes(const uint8_t* p) {
  return {RtF4{(float)p[0], (float)p[1], (float)p[2], (float)p[3]},
          RtF4{(float)p[4], (float)p[5], (float)p[6], (float)p[7]}};
}
RT_HD void load_transposed(const float* p, F8& x, F8& y, F8& z, F8& w) {
  float lane[4][8];
  for (int i = 0; i < 8; ++i)
    for (int c = 0; c < 4; ++c) lane[c][i] = p[4 * i + c];
  x = load(lane[0], (F8*)nullptr), y = load(lane[1], (F8*)nullptr);
  z = load(lane[2], (F8*)nullptr), w = load(lane[3], (F8*)nullptr);
}

}  // namespace RT_NS
