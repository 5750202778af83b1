// One tile of any picture: path tracing, materials other than Phong's, area lights. As render_isa.cpp.
#define RT_FULL_SHADING 1
#include "render_tile.h"
