// As path_isa.cpp, of scenes with capsules.
#define RT_SOLIDS 1
#define RT_FULL_SHADING 1
#include "render_tile.h"
