// CPU lanes: Wide<8> everywhere, Wide<16> with AVX-512, under the vocabulary of core/number.h.
// Without either, Wide<8> is made of the compiler's plain vectors: wide_portable.h.
#pragma once
#include "../core/vec.h"
#if RT_LANES != 0
#include <immintrin.h>
#endif

namespace RT_NS {

template <int N> struct Wide;
template <int N> struct WideU;
template <int N> struct WideM;

}  // namespace RT_NS

#if RT_LANES == 0
#include "wide_portable.h"
#endif

namespace RT_NS {

#if RT_LANES != 0
// ---- what the compiler knows of its vectors of any width
template <int N> RT_HD Wide<N> operator+(Wide<N> a, Wide<N> b) { return a.v + b.v; }
template <int N> RT_HD Wide<N> operator-(Wide<N> a, Wide<N> b) { return a.v - b.v; }
template <int N> RT_HD Wide<N> operator*(Wide<N> a, Wide<N> b) { return a.v * b.v; }
template <int N> RT_HD Wide<N> operator/(Wide<N> a, Wide<N> b) { return a.v / b.v; }
template <int N> RT_HD WideU<N> operator&(WideU<N> a, WideU<N> b) { return a.v & b.v; }
template <int N> RT_HD WideU<N> operator|(WideU<N> a, WideU<N> b) { return a.v | b.v; }
template <int N> RT_HD WideU<N> operator^(WideU<N> a, WideU<N> b) { return a.v ^ b.v; }

// ---- 8 lanes with AVX2
template <> struct WideM<8> {
  __m256 v;
};
template <> struct Wide<8> {
  __m256 v;
  RT_HD Wide() {}
  RT_HD Wide(__m256 a) : v(a) {}
  RT_HD explicit Wide(float a) : v(_mm256_set1_ps(a)) {}
};
template <> struct WideU<8> {
  __m256i v;
  RT_HD WideU() {}
  RT_HD WideU(__m256i a) : v(a) {}
  RT_HD explicit WideU(uint32_t a) : v(_mm256_set1_epi32((int)a)) {}
};
using F8 = Wide<8>;
using U8 = WideU<8>;
using M8 = WideM<8>;
RT_HD M8 operator<(F8 a, F8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
RT_HD M8 operator>(F8 a, F8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)}; }
RT_HD M8 operator<=(F8 a, F8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
RT_HD M8 operator>=(F8 a, F8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GE_OQ)}; }
RT_HD M8 operator==(F8 a, F8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
RT_HD M8 operator&(M8 a, M8 b) { return {_mm256_and_ps(a.v, b.v)}; }
RT_HD M8 operator|(M8 a, M8 b) { return {_mm256_or_ps(a.v, b.v)}; }
RT_HD M8 operator!(M8 a) { return {_mm256_xor_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))}; }
RT_HD uint32_t bits(M8 m) { return (uint32_t)_mm256_movemask_ps(m.v); }
RT_HD F8 fma_(F8 a, F8 b, F8 c) { return _mm256_fmadd_ps(a.v, b.v, c.v); }
RT_HD F8 min_(F8 a, F8 b) { return _mm256_min_ps(a.v, b.v); }
RT_HD F8 max_(F8 a, F8 b) { return _mm256_max_ps(a.v, b.v); }
RT_HD F8 sqrt_(F8 a) { return _mm256_sqrt_ps(a.v); }
RT_HD float reduce_max(F8 a) {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
}
RT_HD F8 floor_(F8 a) { return _mm256_floor_ps(a.v); }
RT_HD F8 abs_(F8 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v); }
RT_HD F8 select(M8 m, F8 a, F8 b) { return _mm256_blendv_ps(b.v, a.v, m.v); }
RT_HD U8 as_uint(F8 a) { return _mm256_castps_si256(a.v); }
RT_HD F8 as_float(U8 a) { return _mm256_castsi256_ps(a.v); }
RT_HD U8 select(M8 m, U8 a, U8 b) { return as_uint(select(m, as_float(a), as_float(b))); }
RT_HD U8 operator+(U8 a, U8 b) { return _mm256_add_epi32(a.v, b.v); }
RT_HD U8 operator-(U8 a, U8 b) { return _mm256_sub_epi32(a.v, b.v); }
RT_HD U8 operator*(U8 a, U8 b) { return _mm256_mullo_epi32(a.v, b.v); }
RT_HD U8 operator<<(U8 a, int n) { return _mm256_slli_epi32(a.v, n); }
RT_HD U8 operator>>(U8 a, int n) { return _mm256_srli_epi32(a.v, n); }
// Bits in reverse: bytes are turned around in their lane, then the halves of each by a table.
RT_HD U8 reverse_bits(U8 a) {
  const __m256i turn = _mm256_broadcastsi128_si256(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
  const __m256i table =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
  const __m256i half = _mm256_set1_epi8(15), turned = _mm256_shuffle_epi8(a.v, turn);
  const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(turned, half));
  const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi32(turned, 4), half));
  return _mm256_or_si256(_mm256_slli_epi32(low, 4), high);
}
RT_HD M8 operator==(U8 a, U8 b) { return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v))}; }
RT_HD M8 operator<(U8 a, U8 b) { return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(b.v, a.v))}; }  // both < 2^31
RT_HD F8 to_float(U8 a) { return _mm256_cvtepi32_ps(a.v); }  // a < 2^31
RT_HD U8 to_uint(F8 a) { return _mm256_cvttps_epi32(a.v); }
RT_HD F8 load(const float* p, F8*) { return _mm256_loadu_ps(p); }
RT_HD void store(float* p, F8 a) { _mm256_storeu_ps(p, a.v); }
RT_HD U8 load(const uint32_t* p, U8*) { return _mm256_loadu_si256((const __m256i*)p); }
RT_HD void store(uint32_t* p, U8 a) { _mm256_storeu_si256((__m256i*)p, a.v); }
RT_HD M8 mask_from_bits(uint32_t b, M8*) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)b), bit), bit))};
}
RT_HD F8 gather(const float* base, U8 index) { return _mm256_i32gather_ps(base, index.v, 4); }
RT_HD U8 gather(const int32_t* base, U8 index) { return _mm256_i32gather_epi32((const int*)base, index.v, 4); }
// lanes of the mask to p, packed; up to eight floats may be written
RT_HD void store_packed(float* p, F8 a, uint32_t mask) {
  // a nibble 0..7 for each set bit, in order: the lanes to keep
  uint64_t spread = _pdep_u64(mask, 0x0101010101010101ull) * 0xffull;
  uint64_t lanes = _pext_u64(0x0706050403020100ull, spread);
  __m256i index = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)lanes));
  _mm256_storeu_ps(p, _mm256_permutevar8x32_ps(a.v, index));
}
// Of eight bytes, those with a bit.
RT_HD uint32_t bytes_with_8(const uint8_t* p, uint32_t bit) {
  const __m128i b = _mm_set1_epi8((char)bit);
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(_mm_loadl_epi64((const __m128i*)p), b), b)) & 255u;
}
// eight bytes as floats
RT_HD F8 load_bytes(const uint8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)));
}
// eight records of 16 bytes as four vectors
RT_HD void load_transposed(const float* p, F8& x, F8& y, F8& z, F8& w) {
  __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 16), 1);
  __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 4)), _mm_loadu_ps(p + 20), 1);
  __m256 c = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 8)), _mm_loadu_ps(p + 24), 1);
  __m256 d = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 12)), _mm_loadu_ps(p + 28), 1);
  __m256 ab0 = _mm256_unpacklo_ps(a, b), ab1 = _mm256_unpackhi_ps(a, b);
  __m256 cd0 = _mm256_unpacklo_ps(c, d), cd1 = _mm256_unpackhi_ps(c, d);
  x = _mm256_shuffle_ps(ab0, cd0, 0x44);
  y = _mm256_shuffle_ps(ab0, cd0, 0xee);
  z = _mm256_shuffle_ps(ab1, cd1, 0x44);
  w = _mm256_shuffle_ps(ab1, cd1, 0xee);
}
#endif
template <> struct Lanes<F8> {
  using U = U8;
  using M = M8;
  using Bits = uint32_t;
  static constexpr int count = 8;
};

// ---- 16 lanes
#if RT_LANES == 16
template <> struct WideM<16> {
  __mmask16 v;
};
template <> struct Wide<16> {
  __m512 v;
  RT_HD Wide() {}
  RT_HD Wide(__m512 a) : v(a) {}
  RT_HD explicit Wide(float a) : v(_mm512_set1_ps(a)) {}
};
template <> struct WideU<16> {
  __m512i v;
  RT_HD WideU() {}
  RT_HD WideU(__m512i a) : v(a) {}
  RT_HD explicit WideU(uint32_t a) : v(_mm512_set1_epi32((int)a)) {}
};
using F16 = Wide<16>;
using U16 = WideU<16>;
using M16 = WideM<16>;
RT_HD M16 operator<(F16 a, F16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
RT_HD M16 operator>(F16 a, F16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)}; }
RT_HD M16 operator<=(F16 a, F16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
RT_HD M16 operator>=(F16 a, F16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ)}; }
RT_HD M16 operator==(F16 a, F16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
RT_HD M16 operator&(M16 a, M16 b) { return {(__mmask16)(a.v & b.v)}; }
RT_HD M16 operator|(M16 a, M16 b) { return {(__mmask16)(a.v | b.v)}; }
RT_HD M16 operator!(M16 a) { return {(__mmask16)~a.v}; }
RT_HD uint32_t bits(M16 m) { return m.v; }
RT_HD F16 fma_(F16 a, F16 b, F16 c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
RT_HD F16 min_(F16 a, F16 b) { return _mm512_min_ps(a.v, b.v); }
RT_HD F16 max_(F16 a, F16 b) { return _mm512_max_ps(a.v, b.v); }
RT_HD F16 sqrt_(F16 a) { return _mm512_sqrt_ps(a.v); }
RT_HD float reduce_max(F16 a) {
  return reduce_max(max_(F8(_mm512_castps512_ps256(a.v)), F8(_mm512_extractf32x8_ps(a.v, 1))));
}
RT_HD F16 floor_(F16 a) { return _mm512_roundscale_ps(a.v, 0x01); }
RT_HD F16 abs_(F16 a) { return _mm512_abs_ps(a.v); }
RT_HD F16 select(M16 m, F16 a, F16 b) { return _mm512_mask_blend_ps(m.v, b.v, a.v); }
RT_HD U16 as_uint(F16 a) { return _mm512_castps_si512(a.v); }
RT_HD F16 as_float(U16 a) { return _mm512_castsi512_ps(a.v); }
RT_HD U16 select(M16 m, U16 a, U16 b) { return _mm512_mask_blend_epi32(m.v, b.v, a.v); }
RT_HD U16 operator+(U16 a, U16 b) { return _mm512_add_epi32(a.v, b.v); }
RT_HD U16 operator-(U16 a, U16 b) { return _mm512_sub_epi32(a.v, b.v); }
RT_HD U16 operator*(U16 a, U16 b) { return _mm512_mullo_epi32(a.v, b.v); }
RT_HD U16 operator<<(U16 a, int n) { return _mm512_slli_epi32(a.v, (unsigned)n); }
RT_HD U16 operator>>(U16 a, int n) { return _mm512_srli_epi32(a.v, (unsigned)n); }
RT_HD U16 reverse_bits(U16 a) {
  const __m512i turn = _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
  const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
  const __m512i half = _mm512_set1_epi8(15), turned = _mm512_shuffle_epi8(a.v, turn);
  const __m512i low = _mm512_shuffle_epi8(table, _mm512_and_si512(turned, half));
  const __m512i high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi32(turned, 4), half));
  return _mm512_or_si512(_mm512_slli_epi32(low, 4), high);
}
RT_HD M16 operator==(U16 a, U16 b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
RT_HD M16 operator<(U16 a, U16 b) { return {_mm512_cmplt_epi32_mask(a.v, b.v)}; }
RT_HD F16 to_float(U16 a) { return _mm512_cvtepi32_ps(a.v); }
RT_HD U16 to_uint(F16 a) { return _mm512_cvttps_epi32(a.v); }
RT_HD F16 load(const float* p, F16*) { return _mm512_loadu_ps(p); }
RT_HD void store(float* p, F16 a) { _mm512_storeu_ps(p, a.v); }
RT_HD U16 load(const uint32_t* p, U16*) { return _mm512_loadu_si512(p); }
RT_HD void store(uint32_t* p, U16 a) { _mm512_storeu_si512(p, a.v); }
RT_HD M16 mask_from_bits(uint32_t b, M16*) { return {(__mmask16)b}; }
RT_HD void store_packed(float* p, F16 a, uint32_t mask) {
  _mm512_storeu_ps(p, _mm512_maskz_compress_ps((__mmask16)mask, a.v));
}
// Of sixteen bytes, those with a bit.
RT_HD uint32_t bytes_with(const uint8_t* p, uint32_t bit) {
  return _mm_test_epi8_mask(_mm_loadu_si128((const __m128i*)p), _mm_set1_epi8((char)bit));
}
RT_HD F16 gather(const float* base, U16 index) { return _mm512_i32gather_ps(index.v, base, 4); }
RT_HD U16 gather(const int32_t* base, U16 index) { return _mm512_i32gather_epi32(index.v, base, 4); }
// sixteen records of 16 bytes as four vectors
RT_HD F16 join(F8 low, F8 high) { return _mm512_insertf32x8(_mm512_castps256_ps512(low.v), high.v, 1); }
RT_HD void load_transposed(const float* p, F16& x, F16& y, F16& z, F16& w) {
  F8 low[4], high[4];
  load_transposed(p, low[0], low[1], low[2], low[3]);
  load_transposed(p + 32, high[0], high[1], high[2], high[3]);
  x = join(low[0], high[0]), y = join(low[1], high[1]), z = join(low[2], high[2]), w = join(low[3], high[3]);
}
template <> struct Lanes<F16> {
  using U = U16;
  using M = M16;
  using Bits = uint32_t;
  static constexpr int count = 16;
};
using FW = F16;  // the width that rays are processed in
#else
using FW = F8;
RT_HD uint32_t bytes_with(const uint8_t* p, uint32_t bit) { return bytes_with_8(p, bit); }
#endif
using UW = UintOf<FW>;
using MW = MaskOf<FW>;
constexpr int kWide = Lanes<FW>::count;

RT_HD void store_packed(uint32_t* p, UW a, uint32_t mask) { store_packed((float*)p, as_float(a), mask); }
RT_HD FW lookup(const float* base, UW index) { return gather(base, index); }
template <int N> RT_HD bool any(WideM<N> m) { return bits(m) != 0; }
template <class V> RT_HD V load(const float* p) { return load(p, (V*)nullptr); }
template <class V> RT_HD V load(const uint32_t* p) { return load(p, (V*)nullptr); }
RT_HD UW lane_iota() {
  alignas(64) uint32_t lane[kWide];
  for (int i = 0; i < kWide; ++i) lane[i] = (uint32_t)i;
  return load<UW>(lane);
}
RT_HD float reduce_min(FW a) { return -reduce_max(FW(0.0f) - a); }

// Vectors by columns x, y, z.
template <int N> RT_HD Vec3<FW> load3(const float (&v)[3][N], int at) {
  return {load<FW>(v[0] + at), load<FW>(v[1] + at), load<FW>(v[2] + at)};
}
template <int N> RT_HD void store3(float (&v)[3][N], int at, Vec3<FW> a) {
  store(v[0] + at, a.x), store(v[1] + at, a.y), store(v[2] + at, a.z);
}
template <int N> RT_HD void store_packed3(float (&v)[3][N], int at, Vec3<FW> a, uint32_t mask) {
  store_packed(v[0] + at, a.x, mask), store_packed(v[1] + at, a.y, mask), store_packed(v[2] + at, a.z, mask);
}
template <int N> RT_HD Vec3<float> lane3(const float (&v)[3][N], int i) { return vec3(v[0][i], v[1][i], v[2][i]); }
template <int N> RT_HD void set_lane3(float (&v)[3][N], int i, Vec3<float> a) {
  v[0][i] = a.x, v[1][i] = a.y, v[2][i] = a.z;
}

}  // namespace RT_NS
