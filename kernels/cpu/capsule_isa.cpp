// As render_isa.cpp and first_hit_isa.cpp, of scenes with capsules.
#define RT_SOLIDS 1
#include "render_tile.h"
#include "exposure_rows.h"
#include "first_hit_row.h"
