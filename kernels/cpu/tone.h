// A film's statistics and its picture on all threads, with the best instruction set at hand.
#pragma once
#include "../core/structs.h"
#include "cancel.h"

namespace rt {

// cancel: they throw Cancelled when it is requested.

// All statistics except the counts of the picture; `sums`: RGBA of args.height rows of args.width pixels.
void measure_film(const float* sums, const ToneArgs& args, FilmHistogram& histogram, int threads, Cancel* cancel);

// The metered exposure in stops.
float metered_exposure_of(const ToneArgs& args, const FilmHistogram& histogram);

// Code values of 1 or 2 bytes, RGBA, and the counts of the picture in `statistics`, which also has the
// exposure if it is automatic.
void tone_map_film(const float* sums, const ToneArgs& args, FilmHistogram& histogram, void* out, int threads,
                   Cancel* cancel);

// Adds the ambient light of a draft, of the planes that it kept, to its sums.
void denoise_draft(const float* planes, float* sums, int32_t width, int32_t height, int threads, Cancel* cancel);

}  // namespace rt
