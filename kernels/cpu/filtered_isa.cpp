// One tile of a picture of Phong's materials and lights without extent, with opacity or clipping planes. Compiled once per
// instruction set (RT_ISA_*), each in a namespace of its own.
#define RT_ALPHA_CLIP 1
#include "render_tile.h"
