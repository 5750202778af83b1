// Assignment of tiles of C to blocks: concurrent blocks share rows of A and columns of B.
#pragma once

struct Tile {
  long long row, col;  // of its first element
};

// Tiles are numbered along bands of `Band` tile rows: the 264 blocks that an H200 runs at once then cover
// about a square of C instead of a few whole tile rows.
template <int Rows, int Cols, int Band>
__device__ __forceinline__ Tile tile_of(long long block, long long m, long long n) {
  const long long tile_rows = (m + Rows - 1) / Rows, tile_cols = (n + Cols - 1) / Cols;
  const long long band = block / (Band * tile_cols), within = block % (Band * tile_cols);
  const long long left = tile_rows - band * Band;
  const long long height = left < Band ? left : Band;  // the last band may be lower
  return {(band * Band + within % height) * Rows, within / height * Cols};
}
