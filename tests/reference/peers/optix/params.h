#pragma once
#include <cuda_runtime.h>
#include <optix.h>

struct Params {
  uchar4* image;
  const float4* points;  // start and radius, end and nothing, of each capsule
  OptixTraversableHandle handle;
  float3 eye, u, v, w, light;
  int width, height, shadows;
};
