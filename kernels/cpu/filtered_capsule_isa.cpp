// As filtered_isa.cpp, of scenes with capsules.
#define RT_SOLIDS 1
#define RT_ALPHA_CLIP 1
#include "render_tile.h"
