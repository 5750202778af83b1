// The tables in constant memory that every render kernel has. Included once by each variant.
#pragma once
#include "view.cuh"

__constant__ rt::Light c_lights[64];
__constant__ rt::Material c_materials[256];
