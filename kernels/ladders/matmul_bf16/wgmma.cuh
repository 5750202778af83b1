// wgmma (sm_90a): a warpgroup of four warps multiplies 64 x 16 by 16 x N from shared memory, asynchronously, for
// N = 64, 72, …, 256. Each operand is stored along k (by default), or along its other dimension ("transposed":
// bfloat16 only). Of the 64 x N sums warp w of the group, lane l, g = l / 4, t = l % 4 has
//   d[4j], d[4j + 1]: row 16w + g, columns 8j + 2t and 8j + 2t + 1;   d[4j + 2], d[4j + 3]: row + 8
// `add` = 0 replaces the sums instead of adding to them, so that no instruction sets them to zero.
// (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16")
#pragma once
#include "../matmul/async_copy.cuh"

// Descriptor of a tile swizzled by 128 bytes, aligned to 1024 bytes. `leading`: bytes from panel to panel.
// (PTX ISA, "Canonical layouts")
__device__ __forceinline__ unsigned long long describe(const void* p, unsigned long long leading) {
  constexpr unsigned long long kSwizzle128 = 1ull << 62;
  constexpr unsigned long long kEightRows = (1024ull >> 4) << 32;  // to the next eight rows, or steps along k
  return kSwizzle128 | kEightRows | leading >> 4 << 16 | (shared_address(p) & 0x3FFFF) >> 4;
}

// With rows of 128 bytes along k, or the same tile from a later column on: the address advances, the swizzle remains
// relative to the 1024 bytes. The leading offset is unused then.
__device__ __forceinline__ unsigned long long describe_tile(const void* p) { return describe(p, 16); }

// Stored along its rows or columns: panels of 64 values (128 bytes) by 64 steps along k, 8192 bytes each.
__device__ __forceinline__ unsigned long long describe_panels(const void* p) { return describe(p, 8192); }

// Makes writes of threads to shared memory visible to wgmma, which reads through another proxy.
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Before the first wgmma that follows other accesses to its registers.
__device__ __forceinline__ void fence_registers() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Waits until at most `Pending` groups, the youngest ones, are in flight.
template <int Pending>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

template <int N, bool TransposedA, bool TransposedB> struct Wgmma;

// A thread has N / 2 sums. NAMES_N and SUMS_N are their places in the instruction and their registers.
// clang-format off
#define FOUR_SUMS(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define NAMES_64 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_72 NAMES_64 ", %32, %33, %34, %35"
#define NAMES_80 NAMES_72 ", %36, %37, %38, %39"
#define NAMES_88 NAMES_80 ", %40, %41, %42, %43"
#define NAMES_96 NAMES_88 ", %44, %45, %46, %47"
#define NAMES_104 NAMES_96 ", %48, %49, %50, %51"
#define NAMES_112 NAMES_104 ", %52, %53, %54, %55"
#define NAMES_120 NAMES_112 ", %56, %57, %58, %59"
#define NAMES_128 NAMES_120 ", %60, %61, %62, %63"
#define NAMES_136 NAMES_128 ", %64, %65, %66, %67"
#define NAMES_144 NAMES_136 ", %68, %69, %70, %71"
#define NAMES_152 NAMES_144 ", %72, %73, %74, %75"
#define NAMES_160 NAMES_152 ", %76, %77, %78, %79"
#define NAMES_168 NAMES_160 ", %80, %81, %82, %83"
#define NAMES_176 NAMES_168 ", %84, %85, %86, %87"
#define NAMES_184 NAMES_176 ", %88, %89, %90, %91"
#define NAMES_192 NAMES_184 ", %92, %93, %94, %95"
#define NAMES_200 NAMES_192 ", %96, %97, %98, %99"
#define NAMES_208 NAMES_200 ", %100, %101, %102, %103"
#define NAMES_216 NAMES_208 ", %104, %105, %106, %107"
#define NAMES_224 NAMES_216 ", %108, %109, %110, %111"
#define NAMES_232 NAMES_224 ", %112, %113, %114, %115"
#define NAMES_240 NAMES_232 ", %116, %117, %118, %119"
#define NAMES_248 NAMES_240 ", %120, %121, %122, %123"
#define NAMES_256 NAMES_248 ", %124, %125, %126, %127"
#define SUMS_64 FOUR_SUMS(0), FOUR_SUMS(4), FOUR_SUMS(8), FOUR_SUMS(12), \
                FOUR_SUMS(16), FOUR_SUMS(20), FOUR_SUMS(24), FOUR_SUMS(28)
#define SUMS_72 SUMS_64, FOUR_SUMS(32)
#define SUMS_80 SUMS_72, FOUR_SUMS(36)
#define SUMS_88 SUMS_80, FOUR_SUMS(40)
#define SUMS_96 SUMS_88, FOUR_SUMS(44)
#define SUMS_104 SUMS_96, FOUR_SUMS(48)
#define SUMS_112 SUMS_104, FOUR_SUMS(52)
#define SUMS_120 SUMS_112, FOUR_SUMS(56)
#define SUMS_128 SUMS_120, FOUR_SUMS(60)
#define SUMS_136 SUMS_128, FOUR_SUMS(64)
#define SUMS_144 SUMS_136, FOUR_SUMS(68)
#define SUMS_152 SUMS_144, FOUR_SUMS(72)
#define SUMS_160 SUMS_152, FOUR_SUMS(76)
#define SUMS_168 SUMS_160, FOUR_SUMS(80)
#define SUMS_176 SUMS_168, FOUR_SUMS(84)
#define SUMS_184 SUMS_176, FOUR_SUMS(88)
#define SUMS_192 SUMS_184, FOUR_SUMS(92)
#define SUMS_200 SUMS_192, FOUR_SUMS(96)
#define SUMS_208 SUMS_200, FOUR_SUMS(100)
#define SUMS_216 SUMS_208, FOUR_SUMS(104)
#define SUMS_224 SUMS_216, FOUR_SUMS(108)
#define SUMS_232 SUMS_224, FOUR_SUMS(112)
#define SUMS_240 SUMS_232, FOUR_SUMS(116)
#define SUMS_248 SUMS_240, FOUR_SUMS(120)
#define SUMS_256 SUMS_248, FOUR_SUMS(124)

// The places are those of the other operands: five after the N / 2 sums.
#define WGMMA(N, a_place, b_place, add_place, ta_place, tb_place)                                                      \
  template <bool TransposedA, bool TransposedB> struct Wgmma<N, TransposedA, TransposedB> {                            \
    static __device__ __forceinline__ void run(float (&d)[N / 2], unsigned long long a, unsigned long long b,          \
                                               int add) {                                                              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #add_place ", 0;\n"                                            \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" NAMES_##N "}, "                        \
                   "%" #a_place ", %" #b_place ", p, 1, 1, %" #ta_place ", %" #tb_place ";\n}\n"                       \
                   : SUMS_##N                                                                                          \
                   : "l"(a), "l"(b), "r"(add), "n"(TransposedA ? 1 : 0), "n"(TransposedB ? 1 : 0));                    \
    }                                                                                                                  \
  };
WGMMA(64, 32, 33, 34, 35, 36)
WGMMA(72, 36, 37, 38, 39, 40)
WGMMA(80, 40, 41, 42, 43, 44)
WGMMA(88, 44, 45, 46, 47, 48)
WGMMA(96, 48, 49, 50, 51, 52)
WGMMA(104, 52, 53, 54, 55, 56)
WGMMA(112, 56, 57, 58, 59, 60)
WGMMA(120, 60, 61, 62, 63, 64)
WGMMA(128, 64, 65, 66, 67, 68)
WGMMA(136, 68, 69, 70, 71, 72)
WGMMA(144, 72, 73, 74, 75, 76)
WGMMA(152, 76, 77, 78, 79, 80)
WGMMA(160, 80, 81, 82, 83, 84)
WGMMA(168, 84, 85, 86, 87, 88)
WGMMA(176, 88, 89, 90, 91, 92)
WGMMA(184, 92, 93, 94, 95, 96)
WGMMA(192, 96, 97, 98, 99, 100)
WGMMA(200, 100, 101, 102, 103, 104)
WGMMA(208, 104, 105, 106, 107, 108)
WGMMA(216, 108, 109, 110, 111, 112)
WGMMA(224, 112, 113, 114, 115, 116)
WGMMA(232, 116, 117, 118, 119, 120)
WGMMA(240, 120, 121, 122, 123, 124)
WGMMA(248, 124, 125, 126, 127, 128)
WGMMA(256, 128, 129, 130, 131, 132)
#undef WGMMA
// clang-format on
