// As render_isa.cpp, with opacity or clipping planes.
#define RT_ALPHA_CLIP 1
#include "render_tile.h"
