// Sizes and offsets as this compiler sees them: for each struct of structs.h, in its order, the size
// and then the offset of every field. Python compares the table of a cubin with that of the extension.
#pragma once
#include "structs.h"

namespace rt {

#define RT_LAYOUT_ONE(type, name, count) +1
#define RT_LAYOUT_COUNT(S) +1 RT_FIELDS_##S(RT_LAYOUT_ONE)
#define RT_LAYOUT_OFFSET(type, name, count) table.numbers[n++] = (int)__builtin_offsetof(T, name);
#define RT_LAYOUT_ROW(S)                 \
  {                                      \
    using T = rt::S;                     \
    table.numbers[n++] = (int)sizeof(T); \
    RT_FIELDS_##S(RT_LAYOUT_OFFSET)      \
  }

struct LayoutTable {
  int numbers[RT_STRUCTS(RT_LAYOUT_COUNT)];
};

constexpr LayoutTable layout_of_structs() {
  LayoutTable table = {};
  int n = 0;
  RT_STRUCTS(RT_LAYOUT_ROW)
  return table;
}

}  // namespace rt

// Included once by each kernel.
#define RT_LAYOUT_TABLE extern "C" __device__ const rt::LayoutTable layout_table = rt::layout_of_structs();
