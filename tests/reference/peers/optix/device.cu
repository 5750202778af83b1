// Device programs: one primary ray a pixel, Lambert, and one shadow ray to a point light.
#include "params.h"

extern "C" {
__constant__ Params params;
}

static __forceinline__ __device__ float3 operator+(float3 a, float3 b) {
  return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static __forceinline__ __device__ float3 operator-(float3 a, float3 b) {
  return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static __forceinline__ __device__ float3 operator*(float s, float3 b) { return make_float3(s * b.x, s * b.y, s * b.z); }
static __forceinline__ __device__ float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static __forceinline__ __device__ float3 norm3(float3 a) { return rsqrtf(dot3(a, a)) * a; }

extern "C" __global__ void __raygen__rg() {
  const uint3 i = optixGetLaunchIndex();
  const float x = 2.f * (i.x + .5f) / params.width - 1.f, y = 1.f - 2.f * (i.y + .5f) / params.height;
  const float3 d = norm3(params.w + x * params.u + y * params.v);
  unsigned prim = ~0u, t = 0;
  optixTrace(params.handle, params.eye, d, 0.f, 1e16f, 0.f, 255, OPTIX_RAY_FLAG_DISABLE_ANYHIT, 0, 1, 0, prim, t);
  float c = 0.1f;
  if (prim != ~0u) {
    const float3 p = params.eye + __uint_as_float(t) * d;
    const float4 start = params.points[2 * prim], end = params.points[2 * prim + 1];
    const float3 a = make_float3(start.x, start.y, start.z), axis = make_float3(end.x, end.y, end.z) - a;
    const float s = fminf(fmaxf(dot3(p - a, axis) / dot3(axis, axis), 0.f), 1.f);
    const float3 n = norm3(p - (a + s * axis));
    float3 l = params.light - p;
    const float distance = sqrtf(dot3(l, l));
    l = (1.f / distance) * l;
    float k = dot3(n, l);
    if (k > 0.f && params.shadows) {
      unsigned lit = 0, unused = 0;
      optixTrace(
          params.handle, p + (1e-3f * start.w) * n, l, 0.f, distance, 0.f, 255,
          OPTIX_RAY_FLAG_DISABLE_ANYHIT | OPTIX_RAY_FLAG_DISABLE_CLOSESTHIT | OPTIX_RAY_FLAG_TERMINATE_ON_FIRST_HIT, 0,
          1, 1, lit, unused);
      if (!lit) k = 0.f;
    }
    c = 0.05f + 0.9f * fmaxf(k, 0.f);
  }
  const unsigned char g = (unsigned char)(255.f * fminf(c, 1.f));
  params.image[i.y * params.width + i.x] = make_uchar4(g, prim != ~0u ? g : 255, g, 255);
}

extern "C" __global__ void __closesthit__ch() {
  optixSetPayload_0(optixGetPrimitiveIndex());
  optixSetPayload_1(__float_as_uint(optixGetRayTmax()));
}
extern "C" __global__ void __miss__ms() {}
extern "C" __global__ void __miss__shadow() { optixSetPayload_0(1); }
