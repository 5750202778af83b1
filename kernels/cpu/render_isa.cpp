// One tile of a picture of Phong's materials and lights without extent. Compiled once per instruction set (RT_ISA_*),
// each in a namespace of its own.
#include "render_tile.h"
