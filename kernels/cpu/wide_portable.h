// Wide<8> of the vector types that GCC and Clang have on any processor; included by wide.h alone.
#pragma once

namespace RT_NS {

typedef float RtF8 __attribute__((vector_size(32)));
typedef uint32_t RtU8 __attribute__((vector_size(32)));
typedef int32_t RtI8 __attribute__((vector_size(32)));
template <> struct WideM<8> {
  RtI8 v;
};
template <> struct Wide<8> {
  RtF8 v;
  RT_HD Wide() {}
  RT_HD Wide(RtF8 a) : v(a) {}
  RT_HD explicit Wide(float a) : v(RtF8{a, a, a, a, a, a, a, a}) {}
};
template <> struct WideU<8> {
  RtU8 v;
  RT_HD WideU() {}
  RT_HD WideU(RtU8 a) : v(a) {}
  RT_HD explicit WideU(uint32_t a) : v(RtU8{a, a, a, a, a, a, a, a}) {}
};
using F8 = Wide<8>;
using U8 = WideU<8>;
using M8 = WideM<8>;
RT_HD F8 operator+(F8 a, F8 b) { return a.v + b.v; }
RT_HD F8 operator-(F8 a, F8 b) { return a.v - b.v; }
RT_HD F8 operator*(F8 a, F8 b) { return a.v * b.v; }
RT_HD F8 operator/(F8 a, F8 b) { return a.v / b.v; }
RT_HD M8 operator<(F8 a, F8 b) { return {a.v < b.v}; }
RT_HD M8 operator>(F8 a, F8 b) { return {a.v > b.v}; }
RT_HD M8 operator<=(F8 a, F8 b) { return {a.v <= b.v}; }
RT_HD M8 operator>=(F8 a, F8 b) { return {a.v >= b.v}; }
RT_HD M8 operator==(F8 a, F8 b) { return {a.v == b.v}; }
RT_HD M8 operator&(M8 a, M8 b) { return {a.v & b.v}; }
RT_HD M8 operator|(M8 a, M8 b) { return {a.v | b.v}; }
RT_HD M8 operator!(M8 a) { return {~a.v}; }
RT_HD uint32_t bits(M8 m) {
  uint32_t b = 0;
  for (int i = 0; i < 8; ++i) b |= (uint32_t)(m.v[i] & 1) << i;
  return b;
}
RT_HD F8 fma_(F8 a, F8 b, F8 c) { return a.v * b.v + c.v; }
RT_HD F8 min_(F8 a, F8 b) { return a.v < b.v ? a.v : b.v; }
RT_HD F8 max_(F8 a, F8 b) { return a.v > b.v ? a.v : b.v; }
RT_HD F8 sqrt_(F8 a) {
  for (int i = 0; i < 8; ++i) a.v[i] = __builtin_sqrtf(a.v[i]);
  return a;
}
RT_HD F8 floor_(F8 a) {
  for (int i = 0; i < 8; ++i) a.v[i] = __builtin_floorf(a.v[i]);
  return a;
}
RT_HD U8 as_uint(F8 a) { return (RtU8)a.v; }
RT_HD F8 as_float(U8 a) { return (RtF8)a.v; }
RT_HD F8 abs_(F8 a) { return (RtF8)((RtU8)a.v & 0x7fffffffu); }
RT_HD F8 select(M8 m, F8 a, F8 b) { return m.v ? a.v : b.v; }
RT_HD U8 select(M8 m, U8 a, U8 b) { return m.v ? a.v : b.v; }
RT_HD U8 operator+(U8 a, U8 b) { return a.v + b.v; }
RT_HD U8 operator-(U8 a, U8 b) { return a.v - b.v; }
RT_HD U8 operator*(U8 a, U8 b) { return a.v * b.v; }
RT_HD U8 operator&(U8 a, U8 b) { return a.v & b.v; }
RT_HD U8 operator|(U8 a, U8 b) { return a.v | b.v; }
RT_HD U8 operator^(U8 a, U8 b) { return a.v ^ b.v; }
RT_HD U8 operator<<(U8 a, int n) { return a.v << (uint32_t)n; }
RT_HD U8 operator>>(U8 a, int n) { return a.v >> (uint32_t)n; }
RT_HD M8 operator==(U8 a, U8 b) { return {a.v == b.v}; }
RT_HD M8 operator<(U8 a, U8 b) { return {(RtI8)a.v < (RtI8)b.v}; }
RT_HD F8 to_float(U8 a) { return __builtin_convertvector((RtI8)a.v, RtF8); }
RT_HD U8 to_uint(F8 a) { return (RtU8) __builtin_convertvector(a.v, RtI8); }
RT_HD F8 load(const float* p, F8*) {
  F8 a;
  memcpy(&a.v, p, 32);
  return a;
}
RT_HD void store(float* p, F8 a) { memcpy(p, &a.v, 32); }
RT_HD U8 load(const uint32_t* p, U8*) {
  U8 a;
  memcpy(&a.v, p, 32);
  return a;
}
RT_HD void store(uint32_t* p, U8 a) { memcpy(p, &a.v, 32); }
RT_HD M8 mask_from_bits(uint32_t b, M8*) {
  const RtI8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
  int32_t s = (int32_t)b;
  return {(RtI8{s, s, s, s, s, s, s, s} & bit) == bit};
}
RT_HD F8 gather(const float* base, U8 index) {
  F8 a;
  for (int i = 0; i < 8; ++i) a.v[i] = base[index.v[i]];
  return a;
}
RT_HD U8 gather(const int32_t* base, U8 index) {
  U8 a;
  for (int i = 0; i < 8; ++i) a.v[i] = (uint32_t)base[index.v[i]];
  return a;
}
RT_HD void store_packed(float* p, F8 a, uint32_t mask) {
  for (int i = 0; i < 8; ++i)
    if (mask >> i & 1) *p++ = a.v[i];
}
RT_HD uint32_t bytes_with_8(const uint8_t* p, uint32_t bit) {
  uint32_t with = 0;
  for (int i = 0; i < 8; ++i) with |= (uint32_t)((p[i] & bit) != 0) << i;
  return with;
}
RT_HD F8 load_bytes(const uint8_t* p) {
  F8 a;
  for (int i = 0; i < 8; ++i) a.v[i] = (float)p[i];
  return a;
}
RT_HD void load_transposed(const float* p, F8& x, F8& y, F8& z, F8& w) {
  for (int i = 0; i < 8; ++i) x.v[i] = p[4 * i], y.v[i] = p[4 * i + 1], z.v[i] = p[4 * i + 2], w.v[i] = p[4 * i + 3];
}

}  // namespace RT_NS
