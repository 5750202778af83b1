// First hits of a row of pixels, and how far spheres are exposed: once per instruction set, each in a namespace (RT_NS).
#include "exposure_rows.h"
#include "first_hit_row.h"
