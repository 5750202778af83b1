// First hits of a row of pixels, and how far spheres are exposed. Compiled once per instruction set (RT_ISA_*), each in a namespace of its own.
#include "exposure_rows.h"
#include "first_hit_row.h"
