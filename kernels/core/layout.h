// Sizes and offsets as this compiler sees them: for each struct of structs.h, in its order, the size
// and then the offset of every field. Python compares the table of a cubin with that of the extension.
#pragma once
#include "structs.h"

#define RT_MEMBER(S, name) (int)__builtin_offsetof(rt::S, name),
#define RT_LAYOUT_ROW(S, LIST) (int)sizeof(rt::S), LIST(RT_MEMBER_##S)
#define RT_LAYOUT_TABLE {RT_STRUCTS(RT_LAYOUT_ROW)}
