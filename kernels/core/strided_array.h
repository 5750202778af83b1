// Numbers of arrays that another library laid out: any strides, six types.
#pragma once
#include "enums.h"
#include "structs.h"

namespace RT_NS {

// IEEE binary16, without a conversion of the hardware's, which not all sides have
RT_HD float half_to_float(uint16_t half) {
  const uint32_t rest = (uint32_t)(half & 0x7fffu) << 13, sign = (uint32_t)(half & 0x8000u) << 16;
  if (rest >= 0x0f800000u) return as_float(sign | rest | 0x7f800000u);  // infinity, NaN
  return as_float(sign | as_uint(as_float(rest) * 0x1p112f));  // exact, of subnormal numbers too
}

// row < rows, column < array.columns
RT_HD double load_number(const rt::StridedArray& array, int64_t row, int32_t column) {
  const uint64_t at = array.data + (uint64_t)(row * array.row_stride + column * array.column_stride);
  switch (array.kind) {
    case kNumberFloat32:
      return load_global((const float*)at);
    case kNumberFloat64:
      return load_global((const double*)at);
    case kNumberFloat16:
      return half_to_float(load_global((const uint16_t*)at));
    case kNumberUint8:
      return load_global((const uint8_t*)at);
    case kNumberInt32:
      return load_global((const int32_t*)at);
    default:
      return (double)load_global((const int64_t*)at);
  }
}

}  // namespace RT_NS
