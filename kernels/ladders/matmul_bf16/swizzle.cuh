// The offset at which the copy engine stores a byte of a box with rows of 128 bytes. The 16-byte pieces of a row are
// permuted, so that the same piece of eight consecutive rows is in eight different groups of four banks: bits 4 to 6 of
// the offset are XORed with bits 7 to 9. (CUDA programming guide, "Shared memory swizzling")
#pragma once

__device__ __forceinline__ int swizzle(int offset) { return offset ^ (offset >> 3 & 0x70); }
