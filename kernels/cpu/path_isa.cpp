// One tile of a picture with path tracing, with materials other than Phong's, or with lights that have an extent.
#define RT_PATH_TRACING 1
#include "render_isa.cpp"
