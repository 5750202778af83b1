// The only file that asks which compiler, side or instruction set is at work.
#pragma once

// RT_HD: inlined everywhere. RT_CALLED, RT_DEVICE_CALLED: nowhere, so that it is compiled once. RT_COLD: rarely called;
// its registers are not those of the caller. RT_CPU_COLD: the same, but inlined in CUDA's kernels of spheres, which a
// call slows down. RT_TABLE: an array of constants in global memory.
#if defined(__CUDACC__)
#define RT_HD __host__ __device__ __forceinline__
#define RT_DEVICE __device__ __forceinline__
#define RT_DEVICE_CALLED static __device__ __noinline__
#define RT_TABLE static __device__ const
#define RT_CALLED static __host__ __device__ __noinline__
#define RT_COLD static __host__ __device__ __noinline__
#if RT_SOLIDS
#define RT_CPU_COLD RT_COLD
#else
#define RT_CPU_COLD RT_HD
#endif
#else
#define RT_HD inline __attribute__((always_inline))
#define RT_TABLE static const
#define RT_CALLED static __attribute__((noinline))
#define RT_COLD static __attribute__((noinline, cold))
#define RT_CPU_COLD RT_COLD
#endif

// Bits of the position of a primitive in leaf order; the largest such number is none. Lanes of a CPU compare with sign.
#if defined(__CUDACC__)
#define RT_POSITION_BITS 32
#else
#define RT_POSITION_BITS 31
#endif

// NVRTC has no standard headers, so none may be included anywhere else in kernels/core, geom, shade.
#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#include <string.h>
#if !defined(__CUDACC__)
#include <math.h>
#endif
#else
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#endif

// Whether there are paths, materials other than Phong's, area lights and what else needs_path_tracing names. Scenes
// without any of these are rendered by code that knows none.
#if !defined(RT_FULL_SHADING)
#define RT_FULL_SHADING 0
#endif

// Whether rays may pass surfaces: opacity and clipping planes (integrator/hit_filter.h).
#if !defined(RT_ALPHA_CLIP)
#define RT_ALPHA_CLIP RT_FULL_SHADING
#endif

// Whether the scene has other solids than spheres: capsules, cones, ellipsoids (geom/solid.h). One without them is
// rendered by code that knows none.
#if !defined(RT_SOLIDS)
#define RT_SOLIDS 0
#endif

// Whether a scene of spheres may have images along a lattice (bvh/images.h): those of CUDA have kernels of their own.
#if !defined(RT_IMAGES)
#if defined(__CUDACC__) || RT_SOLIDS
#define RT_IMAGES 0
#else
#define RT_IMAGES 1
#endif
#endif

// Whether tables of a scene have a field for images: a struct of the CPU is the same in all code.
#if defined(__CUDACC__)
#define RT_IMAGE_FIELD RT_IMAGES
#else
#define RT_IMAGE_FIELD 1
#endif

// Code that is compiled once per instruction set, with and without paths, filters and capsules, lives in a namespace of
// its own: two copies of an inline function under one name would let the linker hand AVX-512 code to a CPU without it.
#if RT_FULL_SHADING && RT_SOLIDS
#define RT_NS_OF(name) name##_capsule_paths
#elif RT_FULL_SHADING
#define RT_NS_OF(name) name##_paths
#elif RT_ALPHA_CLIP && RT_SOLIDS
#define RT_NS_OF(name) name##_filtered_capsules
#elif RT_ALPHA_CLIP
#define RT_NS_OF(name) name##_filtered
#elif RT_SOLIDS
#define RT_NS_OF(name) name##_capsules
#else
#define RT_NS_OF(name) name
#endif
#if defined(RT_ISA_AVX512)
#define RT_LANES 16
#define RT_NS RT_NS_OF(rt_avx512)
#elif defined(RT_ISA_AVX2)
#define RT_LANES 8
#define RT_NS RT_NS_OF(rt_avx2)
#elif defined(RT_ISA_PORTABLE)
#define RT_LANES 0  // 8 lanes as the compiler's plain vectors
#define RT_NS RT_NS_OF(rt_portable)
#else
#define RT_LANES 0
#define RT_NS rt
#endif

// Host code may use SSE2, which every x86-64 has; more is asked for at run time.
#if defined(__x86_64__) && !defined(__CUDACC__)
#define RT_X86 1
#else
#define RT_X86 0
#endif

// A multiply-add is fused where it is written as fma_() and nowhere else: the build says
// -ffp-contract=off and --fmad=false. Only a CPU without the instruction rounds twice.
#if defined(__CUDA_ARCH__) || RT_LANES != 0
#define RT_HAS_FMA 1
#else
#define RT_HAS_FMA 0
#endif

// Whether one instruction adds integers over a warp: since Ampere.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define RT_WARP_REDUCES 1
#else
#define RT_WARP_REDUCES 0
#endif

// scalar operations that each compiler spells its own way
namespace RT_NS {
#if defined(__CUDA_ARCH__)
RT_HD float fma_(float a, float b, float c) { return fmaf(a, b, c); }
RT_HD float sqrt_(float a) { return __fsqrt_rn(a); }
RT_HD float floor_(float a) { return floorf(a); }
// one instruction each, where a comparison and a selection are two
RT_HD float min_(float a, float b) { return fminf(a, b); }
RT_HD float max_(float a, float b) { return fmaxf(a, b); }
RT_HD float abs_(float a) { return fabsf(a); }
// The hardware's own functions, for pictures only: relative errors below 2^-21, not the bits of the CPU.
RT_DEVICE float fast_log2(float a) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}
RT_DEVICE float fast_exp2(float a) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}
// a / b where neither they nor the quotient come near the ends of the range: the division without its
// branch for these
RT_DEVICE float quotient(float a, float b) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
  r = fmaf(fmaf(-b, r, 1.0f), r, r);
  float q = a * r;
  return fmaf(fmaf(-b, q, a), r, q);
}
// through the read-only cache
template <class T> RT_DEVICE T load_global(const T* p) { return __ldg(p); }
RT_HD float as_float(uint32_t a) { return __uint_as_float(a); }
RT_HD uint32_t as_uint(float a) { return __float_as_uint(a); }
#else
#if RT_HAS_FMA
RT_HD float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
RT_HD float fma_(float a, float b, float c) { return a * b + c; }
#endif
RT_HD float sqrt_(float a) { return __builtin_sqrtf(a); }
RT_HD float floor_(float a) { return __builtin_floorf(a); }
RT_HD float min_(float a, float b) { return a < b ? a : b; }
RT_HD float max_(float a, float b) { return a > b ? a : b; }
RT_HD float abs_(float a) { return a < 0.0f ? -a : a; }
template <class T> RT_HD T load_global(const T* p) { return *p; }
RT_HD float as_float(uint32_t a) {
  float f;
  memcpy(&f, &a, 4);
  return f;
}
RT_HD uint32_t as_uint(float a) {
  uint32_t u;
  memcpy(&u, &a, 4);
  return u;
}
#endif
}  // namespace RT_NS
