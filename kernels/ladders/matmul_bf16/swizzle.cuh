// The offset at which the copy engine stores a byte of a box with rows of 32, 64 or 128 bytes. The 16-byte
// pieces of a row are permuted, so that the same piece of eight consecutive rows is in eight different
// groups of four banks. Bits 4.. of the offset are XORed with bits 7..: one bit for 32 bytes, two for
// 64, three for 128. (CUDA programming guide, "Shared memory swizzling")
#pragma once

template <int RowBytes> __device__ __forceinline__ int swizzle(int offset) {
  static_assert(RowBytes == 32 || RowBytes == 64 || RowBytes == 128, "a row of the box");
  constexpr int kMask = (RowBytes / 16 - 1) << 4;
  return offset ^ (offset >> 3 & kMask);
}
