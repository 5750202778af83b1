// One tile of a picture of Phong's materials and lights without extent: once per instruction set, each in a namespace
// (RT_NS).
#include "render_tile.h"
