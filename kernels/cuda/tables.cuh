// The tables in constant memory that every render kernel has, and the layout that Python checks.
// Included once by each variant.
#pragma once
#include "../core/layout.h"
#include "../geom/large_sphere.h"

__constant__ rt::Camera c_camera;
__constant__ rt::Frame c_frame;
__constant__ rt::Light c_lights[64];
__constant__ rt::Material c_materials[256];
__constant__ rt::LargeSphere c_large[rt::kMaxLargeSpheres];
RT_LAYOUT_TABLE
