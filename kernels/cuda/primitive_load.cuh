// Primitives out of records in the memory of the device.
#pragma once
#include "../geom/primitive.h"

namespace RT_NS {

struct PrimitiveRecord {
  float4 word[kPrimitiveWords];
};

RT_DEVICE PrimitiveRecord load_record(const PrimitiveRecord* p) {
  PrimitiveRecord r;
#pragma unroll
  for (int w = 0; w < kPrimitiveWords; ++w) r.word[w] = __ldg(p->word + w);
  return r;
}

// records: all of the scene; of use where there are other solids than spheres
RT_DEVICE Primitive<float> to_primitive(const PrimitiveRecord& r, const PrimitiveRecord* records = nullptr) {
  float record[kPrimitiveFloats];
#pragma unroll
  for (int w = 0; w < kPrimitiveWords; ++w) {
    record[4 * w] = r.word[w].x, record[4 * w + 1] = r.word[w].y;
    record[4 * w + 2] = r.word[w].z, record[4 * w + 3] = r.word[w].w;
  }
  return unpack_primitive(record, (const float*)records);
}

RT_DEVICE Primitive<float> load_primitive(const PrimitiveRecord* records, size_t at) {
  return to_primitive(load_record(records + at), records);
}

}  // namespace RT_NS
