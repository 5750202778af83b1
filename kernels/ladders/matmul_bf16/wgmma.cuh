// wgmma (sm_90a): a warpgroup of four warps multiplies 64 x 16 by 16 x 256 from shared memory,
// asynchronously (wgmma_shapes.cuh). Of the 64 x 256 sums warp w of the group, lane l, g = l / 4, t = l % 4 has
//   d[4j], d[4j + 1]: row 16w + g, columns 8j + 2t and 8j + 2t + 1;   d[4j + 2], d[4j + 3]: row + 8
// (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16")
#pragma once
#include "../matmul/async_copy.cuh"

// Descriptor of a swizzled tile with rows of 128 bytes, aligned to 1024 bytes, or of the same tile from a
// later column on: the address advances, the swizzle remains relative to the 1024 bytes.
__device__ __forceinline__ unsigned long long describe_tile(const void* p) {
  constexpr unsigned long long kSwizzle128 = 1ull << 62;
  constexpr unsigned long long kEightRows = (1024ull >> 4) << 32;  // to the next eight rows
  constexpr unsigned long long kLeading = 1ull << 16;              // unused with this swizzle
  return kSwizzle128 | kEightRows | kLeading | (shared_address(p) & 0x3FFFF) >> 4;
}

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
