// Where the copy engine puts a byte of a box whose rows have 64 or 128 bytes: 16-byte pieces of a row
// are exchanged, so that the same piece of eight rows that follow each other lies in eight different
// groups of four banks. Bits 4.. of the offset are XORed with bits 7..: two bits for 64 bytes, three
// for 128. (CUDA programming guide, "Shared memory swizzling")
#pragma once

template <int RowBytes> __device__ __forceinline__ int swizzle(int offset) {
  static_assert(RowBytes == 64 || RowBytes == 128, "a row of the box");
  constexpr int kMask = (RowBytes / 16 - 1) << 4;
  return offset ^ (offset >> 3 & kMask);
}
