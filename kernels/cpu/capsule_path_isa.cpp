// One tile of a picture with capsules and path tracing, with materials other than Phong's, or with lights that have an
// extent. Compiled once per instruction set (RT_ISA_*), each in a namespace of its own.
#define RT_SOLIDS 1
#define RT_FULL_SHADING 1
#include "render_tile.h"
