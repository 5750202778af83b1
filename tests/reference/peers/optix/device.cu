// Device programs of OptiX: rays by optixTrace, whose hit and miss programs set payloads, or by optixTraverse, which leaves a
// hit object and calls none.
#include "parameters.h"

extern "C" {
__constant__ Parameters parameters;
}

static __forceinline__ __device__ float3 vector(Vec a) { return make_float3(a.x, a.y, a.z); }

constexpr unsigned kOpenFlags =
    OPTIX_RAY_FLAG_DISABLE_ANYHIT | OPTIX_RAY_FLAG_DISABLE_CLOSESTHIT | OPTIX_RAY_FLAG_TERMINATE_ON_FIRST_HIT;

struct ByPrograms {
  __device__ Found closest(Vec origin, Vec direction) const {
    unsigned id = kNothing, distance = 0;
    optixTrace(parameters.tree, vector(origin), vector(direction), 0.0f, 1e16f, 0.0f, 255,
               OPTIX_RAY_FLAG_DISABLE_ANYHIT, 0, 1, 0, id, distance);
    return {id, __uint_as_float(distance)};
  }
  __device__ bool passes(Vec origin, Vec direction, float far) const {
    unsigned id = kNothing - 1, distance = 0;
    optixTrace(parameters.tree, vector(origin), vector(direction), 0.0f, far, 0.0f, 255, kOpenFlags, 0, 1, 0, id,
               distance);
    return id == kNothing;
  }
};

struct ByHitObjects {
  __device__ Found closest(Vec origin, Vec direction) const {
    optixTraverse(parameters.tree, vector(origin), vector(direction), 0.0f, 1e16f, 0.0f, 255,
                  OPTIX_RAY_FLAG_DISABLE_ANYHIT, 0, 1, 0);
    if (!optixHitObjectIsHit()) return {kNothing, 0.0f};
    return {optixHitObjectGetPrimitiveIndex(), optixHitObjectGetRayTmax()};
  }
  __device__ bool passes(Vec origin, Vec direction, float far) const {
    optixTraverse(parameters.tree, vector(origin), vector(direction), 0.0f, far, 0.0f, 255, kOpenFlags, 0, 1, 0);
    return !optixHitObjectIsHit();
  }
};

template <class Tracer>
static __forceinline__ __device__ void generate() {
  const uint3 index = optixGetLaunchIndex();
  shade_pixel(parameters.view, Tracer{}, static_cast<int>(index.x), static_cast<int>(index.y));
}

extern "C" __global__ void __raygen__trace() { generate<ByPrograms>(); }
extern "C" __global__ void __raygen__traverse() { generate<ByHitObjects>(); }
extern "C" __global__ void __closesthit__hit() {
  optixSetPayload_0(optixGetPrimitiveIndex());
  optixSetPayload_1(__float_as_uint(optixGetRayTmax()));
}
extern "C" __global__ void __miss__miss() { optixSetPayload_0(kNothing); }
