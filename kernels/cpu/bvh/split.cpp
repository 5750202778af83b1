#include "split.h"

#if RT_X86
#include <immintrin.h>
#endif

namespace rt {

Binner::Binner(const Box& centers, int64_t count) : bins(count > 64 ? kBins : 8) {
  V4 extent = centers.extent();
  // slightly below `bins`, so that the largest centre is in the last bin after rounding
  float s[3];
  for (int a = 0; a < 3; ++a) s[a] = extent[a] > 1e-30f ? (float)bins * 0.99999f / extent[a] : 0.0f;
  origin = centers.lo();
  scale = v4(s[0], s[1], s[2], 0.0f);
}

void BinSet::clear(int bins) {
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < bins; ++b) box[a][b] = Box(), count[a][b] = 0;
}

template <int kFloats>
static void add_plain(BinSet& set, const Binner& binner, const Record<kFloats>* records, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    const PrimitiveBox<V4> p = box_of(records[k]);
    int32_t i[4];
    binner.index(p.center, i);
    for (int a = 0; a < 3; ++a) {
      set.box[a][i[a]].grow(p.neg_lo, p.hi);
      ++set.count[a][i[a]];
    }
  }
}

#if RT_X86
// The same with a whole box in one register, as most of the build time is spent here.
template <int kFloats>
__attribute__((target("avx2"))) static void add_avx2(BinSet& set, const Binner& binner, const Record<kFloats>* records,
                                                     int64_t n) {
  const __m128 origin = binner.origin.v, scale = binner.scale.v;
  for (int64_t k = 0; k < n; ++k) {
    const PrimitiveBox<V4> p = box_of(records[k]);
    __m128i i = _mm_cvttps_epi32(_mm_mul_ps(_mm_sub_ps(p.center.v, origin), scale));
    __m256 box = _mm256_insertf128_ps(_mm256_castps128_ps256(p.neg_lo.v), p.hi.v, 1);
    const uint32_t at[3] = {(uint32_t)_mm_cvtsi128_si32(i), (uint32_t)_mm_extract_epi32(i, 1),
                            (uint32_t)_mm_extract_epi32(i, 2)};
    for (int a = 0; a < 3; ++a) {
      float* to = (float*)&set.box[a][at[a]];
      _mm256_store_ps(to, _mm256_max_ps(_mm256_load_ps(to), box));
      ++set.count[a][at[a]];
    }
  }
}
#endif

template <int kFloats> void BinSet::add(const Binner& binner, const Record<kFloats>* records, int64_t n) {
#if RT_X86
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2) return add_avx2(*this, binner, records, n);
#endif
  add_plain(*this, binner, records, n);
}

template void BinSet::add(const Binner&, const Record<kSphereFloats>*, int64_t);
template void BinSet::add(const Binner&, const Record<kSolidFloats>*, int64_t);

void BinSet::merge(const BinSet& other, int bins) {
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < bins; ++b) {
      box[a][b].grow(other.box[a][b]);
      count[a][b] += other.count[a][b];
    }
}

static inline float side_cost(const Box& box, int64_t n) { return n ? box.half_area() * (float)n : 0.0f; }

Split best_split(const BinSet& bins, int count) {
  Split best;
  float best_cost = kEmpty;
  for (int a = 0; a < 3; ++a) {
    float right_cost[kBins];
    int64_t n = 0;
    Box box;
    for (int b = count - 1; b > 0; --b) {
      box.grow(bins.box[a][b]);
      n += bins.count[a][b];
      right_cost[b] = n ? side_cost(box, n) : -1.0f;
    }
    n = 0;
    box = Box();
    for (int b = 1; b < count; ++b) {
      box.grow(bins.box[a][b - 1]);
      n += bins.count[a][b - 1];
      if (!n || right_cost[b] < 0.0f) continue;
      float cost = side_cost(box, n) + right_cost[b];
      if (cost < best_cost) best_cost = cost, best.axis = a, best.bin = b;
    }
  }
  if (best.axis < 0) return best;
  for (int b = 0; b < count; ++b) (b < best.bin ? best.left_box : best.right_box).grow(bins.box[best.axis][b]);
  return best;
}

}  // namespace rt
