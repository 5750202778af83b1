// A text is a polynomial over GF(2), its first bit that of the highest power, and its sum the remainder
// modulo P times x^32. "Reflected" means that the lowest bit of a word is the highest power: bit 31 of a
// 32-bit word is x^0, bit 0 is x^31.
//
// With carry-less products (PCLMULQDQ) 64 bytes are taken at a time: by x^n = (x^n mod P) modulo P a block
// can be moved n bits towards the end of the text, where it is added to the block that is there. This is
// folding, after Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel 2009. Here the last 16 bytes that remain go through the table.
#include "crc32.h"

#include <array>
#include <cstring>

#include "../../core/compat.h"

#if RT_X86
#include <immintrin.h>
#endif

namespace rt {
namespace {

constexpr uint32_t kPolynomial = 0xEDB88320u;  // P without x^32, reflected
constexpr uint32_t kOne = 0x80000000u;         // x^0, reflected

constexpr uint32_t times_x(uint32_t a) { return (a >> 1) ^ (a & 1 ? kPolynomial : 0); }

// a times b modulo P
constexpr uint32_t product(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (; b; b <<= 1) {  // from x^0 on
    if (b & kOne) sum ^= a;
    a = times_x(a);
  }
  return sum;
}

// x^n modulo P
constexpr uint32_t power_of_x(uint64_t n) {
  uint32_t result = kOne;
  for (uint32_t square = kOne >> 1; n; n >>= 1, square = product(square, square))
    if (n & 1) result = product(result, square);
  return result;
}

// kTables[k][b]: what a byte b contributes k bytes before the end
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t a = b;
    for (int bit = 0; bit < 8; ++bit) a = times_x(a);
    t[0][b] = a;
  }
  for (int k = 1; k < 8; ++k)
    for (uint32_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 255];
  return t;
}();

// The state of a sum is its complement, as the definition says.
uint32_t by_table(uint32_t state, const uint8_t* p, size_t size) {
  for (; size >= 8; p += 8, size -= 8) {
    uint32_t next = 0;
    for (int k = 0; k < 8; ++k) next ^= kTables[7 - k][p[k] ^ (k < 4 ? state >> 8 * k & 255 : 0)];
    state = next;
  }
  for (; size; ++p, --size) state = (state >> 8) ^ kTables[0][(state ^ *p) & 255];
  return state;
}

#if RT_X86

// Factors that move a block of 128 bits by `bits`: its first 64 bits are 64 powers higher. The product of
// two reflected words of 64 bits is one power of x too high, therefore the - 1.
constexpr uint64_t kFirst(uint64_t bits) { return (uint64_t)power_of_x(bits + 63) << 32; }
constexpr uint64_t kSecond(uint64_t bits) { return (uint64_t)power_of_x(bits - 1) << 32; }
struct Factors {
  int64_t first, second;
};
constexpr Factors factors(uint64_t bits) { return {(int64_t)kFirst(bits), (int64_t)kSecond(bits)}; }
constexpr Factors kBy128 = factors(128), kBy512 = factors(512), kBy2048 = factors(2048);

#define RT_CLMUL __attribute__((target("pclmul,sse4.1")))
#define RT_CLMUL_WIDE __attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.1")))

RT_CLMUL inline __m128i both(Factors f) { return _mm_set_epi64x(f.second, f.first); }
RT_CLMUL inline __m128i load(const uint8_t* p) { return _mm_loadu_si128((const __m128i*)p); }

// `to` and what `block` is when it is moved there
RT_CLMUL inline __m128i fold(__m128i block, __m128i by, __m128i to) {
  const __m128i first = _mm_clmulepi64_si128(block, by, 0x00), second = _mm_clmulepi64_si128(block, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), to);
}

// the sum of four blocks, one after another
RT_CLMUL inline uint32_t sum_of_four(__m128i a, __m128i b, __m128i c, __m128i d) {
  const __m128i by128 = both(kBy128);
  uint8_t rest[16];
  _mm_storeu_si128((__m128i*)rest, fold(fold(fold(a, by128, b), by128, c), by128, d));
  return by_table(0, rest, 16);
}

// `size` is a multiple of 64 and not 0
RT_CLMUL uint32_t by_folding(uint32_t state, const uint8_t* p, size_t size) {
  const __m128i by512 = both(kBy512);
  __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)state)), b = load(p + 16), c = load(p + 32),
          d = load(p + 48);
  for (p += 64, size -= 64; size; p += 64, size -= 64) {
    a = fold(a, by512, load(p));
    b = fold(b, by512, load(p + 16));
    c = fold(c, by512, load(p + 32));
    d = fold(d, by512, load(p + 48));
  }
  return sum_of_four(a, b, c, d);
}

RT_CLMUL_WIDE inline __m512i fold_wide(__m512i blocks, __m512i by, __m512i to) {
  const __m512i first = _mm512_clmulepi64_epi128(blocks, by, 0x00), second = _mm512_clmulepi64_epi128(blocks, by, 0x11);
  return _mm512_xor_si512(_mm512_xor_si512(first, second), to);
}

RT_CLMUL_WIDE inline __m512i both_wide(Factors f) {
  return _mm512_set_epi64(f.second, f.first, f.second, f.first, f.second, f.first, f.second, f.first);
}

// The same with four blocks in a register. `size` is a multiple of 256 and not 0.
RT_CLMUL_WIDE uint32_t by_wide_folding(uint32_t state, const uint8_t* p, size_t size) {
  const __m512i by2048 = both_wide(kBy2048), by512 = both_wide(kBy512);
  __m512i a = _mm512_xor_si512(_mm512_loadu_si512(p), _mm512_set_epi64(0, 0, 0, 0, 0, 0, 0, state));
  __m512i b = _mm512_loadu_si512(p + 64), c = _mm512_loadu_si512(p + 128), d = _mm512_loadu_si512(p + 192);
  for (p += 256, size -= 256; size; p += 256, size -= 256) {
    a = fold_wide(a, by2048, _mm512_loadu_si512(p));
    b = fold_wide(b, by2048, _mm512_loadu_si512(p + 64));
    c = fold_wide(c, by2048, _mm512_loadu_si512(p + 128));
    d = fold_wide(d, by2048, _mm512_loadu_si512(p + 192));
  }
  uint8_t rest[64];
  _mm512_storeu_si512(rest, fold_wide(fold_wide(fold_wide(a, by512, b), by512, c), by512, d));
  return sum_of_four(load(rest), load(rest + 16), load(rest + 32), load(rest + 48));
}

#endif

}  // namespace

uint32_t crc32(uint32_t crc, const uint8_t* data, size_t size) {
  uint32_t state = ~crc;
#if RT_X86
  static const bool folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  static const bool wide = folds && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  if (const size_t whole = size & ~(size_t)255; whole && wide) {
    state = by_wide_folding(state, data, whole);
    data += whole;
    size -= whole;
  }
  if (const size_t whole = size & ~(size_t)63; whole && folds) {
    state = by_folding(state, data, whole);
    data += whole;
    size -= whole;
  }
#endif
  return ~by_table(state, data, size);
}

uint32_t crc32_joined(uint32_t first, uint32_t second, uint32_t shift) { return product(first, shift) ^ second; }

uint32_t crc32_shift(uint64_t bytes) { return power_of_x(8 * bytes); }

}  // namespace rt
