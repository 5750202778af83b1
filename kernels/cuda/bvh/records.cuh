// Records of primitives, out of columns of their numbers.
#pragma once
#include "../../core/structs.h"
#include "../primitive_load.cuh"

namespace rt {

// columns: float32 (kPrimitiveFloats, count), in the order of a record
RT_DEVICE void interleave(const float* columns, PrimitiveRecord* records, uint32_t count) {
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t row = blockIdx.x * blockDim.x + threadIdx.x; row < count; row += step) {
    float v[kPrimitiveFloats];
#pragma unroll
    for (int k = 0; k < kPrimitiveFloats; ++k) v[k] = columns[(size_t)k * count + row];
    PrimitiveRecord r;
#pragma unroll
    for (int w = 0; w < kPrimitiveWords; ++w)
      r.word[w] = make_float4(v[4 * w], v[4 * w + 1], v[4 * w + 2], v[4 * w + 3]);
    records[row] = r;
  }
}

}  // namespace rt
