// First hits of a row of pixels. Compiled once per instruction set (RT_ISA_*), each in a namespace of its own.
#include "first_hit_row.h"
