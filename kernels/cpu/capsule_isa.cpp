// One tile of a picture with capsules, of Phong's materials and lights without extent, and first hits. Compiled once per
// instruction set (RT_ISA_*), each in a namespace of its own.
#define RT_SOLIDS 1
#include "render_tile.h"
#include "exposure_rows.h"
#include "first_hit_row.h"
