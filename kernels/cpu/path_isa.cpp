// One tile of a picture with path tracing, with materials other than Phong's, or with area lights.
// Compiled once per instruction set (RT_ISA_*), each in a namespace of its own.
#define RT_FULL_SHADING 1
#include "render_tile.h"
