// The functions over arrays on a CPU, compiled for one instruction set: as its lanes and as plain floats.
#include "functions.h"

namespace RT_NS {
namespace {

RT_HD float take(const float* lanes, float*) { return *lanes; }
RT_HD FW take(const float* lanes, FW*) { return load<FW>(lanes); }
RT_HD void put(float* lanes, float a) { *lanes = a; }
RT_HD void put(float* lanes, FW a) { store(lanes, a); }

// in: [inputs][count], out: [outputs][count]; lanes beyond the last row repeat it
template <class F, int inputs, int outputs, class Body> void each_row(const float* in, float* out, int64_t count,
                                                                      Body body) {
  constexpr int lanes = Lanes<F>::count;
  for (int64_t row = 0; row < count; row += lanes) {
    F values[inputs], results[outputs];
    float lane[lanes];
    for (int i = 0; i < inputs; ++i) {
      for (int k = 0; k < lanes; ++k) lane[k] = in[i * count + (row + k < count ? row + k : count - 1)];
      values[i] = take(lane, (F*)nullptr);
    }
    body(values, results);
    for (int o = 0; o < outputs; ++o) {
      put(lane, results[o]);
      for (int k = 0; k < lanes && row + k < count; ++k) out[o * count + row + k] = lane[k];
    }
  }
}

}  // namespace
}  // namespace RT_NS

#define SCALAR_ENTRY(name, inputs, outputs)                                                                      \
  extern "C" void scalar_##name(const float* in, float* out, int64_t count, const Uniform* u) {                  \
    RT_NS::each_row<float, inputs, outputs>(in, out, count, [u](const float* i, float* o) { RT_NS::eval_##name(i, o, *u); }); \
  }
#define ENTRIES(name, inputs, outputs)                                                                           \
  SCALAR_ENTRY(name, inputs, outputs)                                                                            \
  extern "C" void wide_##name(const float* in, float* out, int64_t count, const Uniform* u) {                    \
    using RT_NS::FW;                                                                                             \
    RT_NS::each_row<FW, inputs, outputs>(in, out, count, [u](const FW* i, FW* o) { RT_NS::eval_##name(i, o, *u); }); \
  }
PROBE_FUNCTIONS(ENTRIES, SCALAR_ENTRY)

extern "C" const int layout_table[] = {(int)sizeof(Uniform)};
