// Conversion of records in device memory to primitives.
#pragma once
#include "../geom/primitive.h"

namespace RT_NS {

RT_DEVICE Primitive<float> to_primitive(float4 record) { return {vec3(record.x, record.y, record.z), record.w}; }

}  // namespace RT_NS
