// A film's statistics and its picture on all threads, with the best instruction set at hand.
#pragma once
#include "../core/structs.h"
#include "cancel.h"

namespace rt {

// cancel: they throw Cancelled when it is requested.

// All of the tally but the counts of the picture; `sums`: RGBA of args.height rows of args.width pixels.
void measure_film(const float* sums, const ToneArgs& args, Tally& tally, int threads, Cancel* cancel);

// The exposure in stops that a tally asks for.
float meter_tally(const ToneArgs& args, const Tally& tally);

// Code values of 1 or 2 bytes, RGBA, and the tally's counts of the picture. The exposure is the tally's if it
// is automatic.
void develop_film(const float* sums, const ToneArgs& args, Tally& tally, void* out, int threads, Cancel* cancel);

}  // namespace rt
