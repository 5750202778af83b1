// The functions over arrays on a GPU, a thread a row.
// flags: --fmad=false
#include "functions.h"

#define ENTRY(name, inputs, outputs)                                                                             \
  extern "C" __global__ void scalar_##name(const float* in, float* out, long long count, const Uniform* u) { \
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;                                      \
    if (row >= count) return;                                                                                    \
    float values[inputs], results[outputs];                                                                      \
    for (int i = 0; i < inputs; ++i) values[i] = in[i * count + row];                                            \
    rt::eval_##name(values, results, *u);                                                                         \
    for (int o = 0; o < outputs; ++o) out[o * count + row] = results[o];                                         \
  }
PROBE_FUNCTIONS(ENTRY, ENTRY)

extern "C" __device__ const int layout_table[] = {(int)sizeof(Uniform)};
