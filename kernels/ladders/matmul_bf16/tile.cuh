// Tiles of A and B in shared memory for the tensor cores: rows of 64 values, 128 bytes, swizzled.
//
// Both matrices are stored along k (A by rows, B by columns) and have the same layout. A row is eight
// chunks of 16 bytes; chunk c of row r is at position c ^ (r mod 8). The eight rows of an 8 x 8 matrix then
// use all 32 banks once; without the XOR they would use the same four. This is the 128-byte swizzle of
// wgmma and TMA, which derive it from bits 4 to 9 of the address.
#pragma once
#include <cuda_bf16.h>

#include "../matmul/async_copy.cuh"

using bf16 = __nv_bfloat16;

constexpr int kDepth = 64;     // columns of A and rows of B per tile
constexpr int kRowBytes = 128;
constexpr int kChunks = 8;     // of 16 bytes, 8 values, per row

// Byte offset of a chunk in a tile. Rows of 64 bytes are four chunks, of which a row and the next one fill the banks:
// their XOR is the same, and four such pairs have different ones.
template <int RowBytes = kRowBytes> __device__ __forceinline__ int swizzled(int row, int chunk) {
  return row * RowBytes + ((chunk ^ (RowBytes == 64 ? row >> 1 & 3 : row & 7)) << 4);
}

__device__ __forceinline__ bool chunks_aligned(const bf16* p, long long k) {
  return k % 8 == 0 && reinterpret_cast<unsigned long long>(p) % 16 == 0;
}

// The first `count` of eight unaligned values, then zeros.
__device__ __forceinline__ uint4 gather8(const bf16* from, int count) {
  const unsigned short* p = reinterpret_cast<const unsigned short*>(from);
  unsigned word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned low = 2 * i < count ? p[2 * i] : 0;
    const unsigned high = 2 * i + 1 < count ? p[2 * i + 1] : 0;
    word[i] = low | high << 16;
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

// Starts the copy of a tile of `Rows` rows by `Threads` threads, of which this is number `thread`.
// from: its first value. rows, cols: extent of the matrix from there on; zeros beyond.
// stride: values per row of the matrix. Without alignment to 16 bytes the copy is synchronous.
template <int Rows, int Threads>
__device__ __forceinline__ void copy_tile(unsigned char* to, const bf16* from, int thread, long long rows,
                                          long long cols, long long stride, bool aligned) {
  constexpr int kStep = Threads / kChunks;  // rows per iteration of all threads
  static_assert((kStep == 4 || kStep % 8 == 0) && Rows % kStep == 0, "the XOR below");
  const int chunk = thread % kChunks, row = thread / kChunks;
  const long long right = cols - chunk * 8, below = rows - row;
  const int inside = right >= 8 ? 8 : right > 0 ? static_cast<int>(right) : 0;
  const int height = inside == 0 ? 0 : below < Rows ? static_cast<int>(below) : Rows;
  const bf16* source = from + row * stride + chunk * 8;
  const int first = swizzled(row, chunk);
  // of this thread's i-th chunk; each step of four rows flips bit 2 of the row
  auto place = [=](int i) { return to + ((first ^ (i * kStep & 7) << 4) + i * kStep * kRowBytes); };
  if (aligned) {  // a chunk is entirely inside or outside
#pragma unroll 8
    for (int i = 0; i < Rows / kStep; ++i, source += kStep * stride)
      copy16(place(i), source, i * kStep < height ? 16 : 0);
    return;
  }
#pragma unroll 1
  for (int i = 0; i < Rows / kStep; ++i, source += kStep * stride)
    *reinterpret_cast<uint4*>(place(i)) = gather8(source, i * kStep < height ? inside : 0);
}
