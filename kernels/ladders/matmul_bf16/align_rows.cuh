// Copies of matrices of 16-bit values whose rows do not start at multiples of 16 bytes, to rows that do: the copy
// engine has no map of the former. A thread writes 16 bytes of a row; it reads the one or two aligned pieces
// of 16 bytes that hold them, and shifts. Values behind the end of a row are any: nothing reads them.
#pragma once

struct RowsToAlign {
  const unsigned short* from;
  unsigned short* to;           // aligned to 16 bytes; null: nothing to do
  long long pitch, pitch_to;    // values from row to row; pitch_to: a multiple of 8
  int rows, cols;
};
static_assert(sizeof(RowsToAlign) == 40, "raytracer/benchmark/products/kernel.py packs it");

// Words 0 to 3 of eight, from byte `offset` (0 to 15, even) on.
__device__ __forceinline__ uint4 shifted(uint4 low, uint4 high, int offset) {
  if (offset & 8) low = make_uint4(low.z, low.w, high.x, high.y), high = make_uint4(high.z, high.w, 0, 0);
  if (offset & 4) low = make_uint4(low.y, low.z, low.w, high.x), high.x = high.y;
  if (offset & 2)
    low = make_uint4(low.x >> 16 | low.y << 16, low.y >> 16 | low.z << 16, low.z >> 16 | low.w << 16,
                     low.w >> 16 | high.x << 16);
  return low;
}

// A warp takes 128 pieces of a row at a time.
__device__ __forceinline__ void align_rows(const RowsToAlign& work) {
  if (work.to == nullptr) return;
  constexpr unsigned kSegment = 128;
  const unsigned pieces = (work.cols + 7) / 8, segments = (pieces + kSegment - 1) / kSegment;
  const unsigned lane = threadIdx.x % 32, warps = gridDim.x * (blockDim.x / 32);
  for (unsigned i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; i < work.rows * segments; i += warps) {
    const unsigned row = i / segments, begin = (i - row * segments) * kSegment;
    const unsigned short* from = work.from + row * work.pitch;
    unsigned short* to = work.to + row * work.pitch_to;
#pragma unroll
    for (unsigned j = lane; j < kSegment; j += 32) {
      const unsigned piece = begin + j;
      if (piece >= pieces) break;
      const unsigned long long at = reinterpret_cast<unsigned long long>(from + piece * 8);
      const int inside = min(8, work.cols - static_cast<int>(piece * 8)), offset = static_cast<int>(at & 15);
      const uint4* aligned = reinterpret_cast<const uint4*>(at & ~15ull);
      const uint4 low = __ldg(aligned);
      const uint4 high = offset + 2 * inside > 16 ? __ldg(aligned + 1) : make_uint4(0, 0, 0, 0);
      *reinterpret_cast<uint4*>(to + piece * 8) = shifted(low, high, offset);
    }
  }
}
