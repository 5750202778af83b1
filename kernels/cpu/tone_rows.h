// The part of tone mapping on the CPU that is compiled once per instruction set: some rows of a film.
#pragma once
#include "../core/structs.h"

namespace rt {

// Statistics of several rows, to be added in order.
struct RowHistogram {
  uint64_t bins[256];
  double luminance, log2;
  float darkest, brightest;
  uint64_t clipped, black;
};

struct ToneRows {
  const float* sums;      // RGBA sums of the first row
  void* out;              // RGBA codes of the first row; not used by measure_rows
  const ToneArgs* args;
  float exposure;         // stops
  int32_t first, count;   // rows of the film
  float* buffer;          // 8 w + 16 floats for a film that is smoothed, or null
};

// Rows of a draft, to whose sums the filtered ambient light is added (integrator/draft.h).
struct DraftRows {
  const float* planes;
  float* sums;  // of the whole film
  int32_t width, height, first, count;
};

#define RT_TONE_ENTRIES(ns)                                                   \
  namespace ns {                                                              \
  void measure_rows(const rt::ToneRows&, rt::RowHistogram&);                      \
  void tone_map_rows(const rt::ToneRows&, rt::RowHistogram&);                      \
  void clean_rows(const rt::DraftRows&);                                      \
  }

}  // namespace rt

RT_TONE_ENTRIES(rt_portable)
RT_TONE_ENTRIES(rt_avx2)
RT_TONE_ENTRIES(rt_avx512)
