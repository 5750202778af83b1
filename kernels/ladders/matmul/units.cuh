// The work of a persistent block, or cluster of blocks: whole tiles of C, and parts of tiles along k ("stream-K").
//
// With one tile at a time the last wave leaves multiprocessors idle. Here the first `split_tiles` tiles are
// divided along k into as many equal parts as there are workers, wherever the borders fall; the other
// tiles, a multiple of the workers, follow whole. A worker's first part may begin inside of a tile: it then
// writes its sums to memory, and the worker that has the beginning of the tile, which it processes last, adds
// them in the order of k. The sum of an element therefore depends on sizes and grid alone, not on time.
// (Osama et al. 2023, "Stream-K")
#pragma once

struct Unit {
  int tile, first, last;  // steps along k; last is exclusive
};

struct Units {
  int tile_rows, tile_cols;  // tiles of C, of a cluster each
  int steps;                 // along k in a tile
  int split_tiles;           // divided along k
  int snap;                  // borders closer than this to the border of a tile move there
  int band;                  // tile rows that are visited column by column: they share columns of B

  // First step of a worker among those of the split tiles.
  __device__ __forceinline__ int border(int worker, int workers) const {
    const int all = split_tiles * steps;
    const int at = static_cast<int>(static_cast<long long>(all) * worker / workers);
    const int within = at % steps;
    if (within < snap) return at - within;
    return steps - within < snap ? at - within + steps : at;
  }

  // Calls each(unit) for the units of a worker, the parts first.
  template <class Each> __device__ __forceinline__ void for_each(int worker, int workers, Each each) const {
    Walk walk = begin(worker, workers);
    while (more(walk)) each(advance(walk, workers));
  }

  // The same step by step.
  struct Walk {
    int at, end;  // steps of parts
    int whole;    // next whole tile
  };
  __device__ __forceinline__ Walk begin(int worker, int workers) const {
    Walk walk{0, 0, split_tiles + worker};
    if (split_tiles > 0) walk.at = border(worker, workers), walk.end = border(worker + 1, workers);
    return walk;
  }
  __device__ __forceinline__ bool more(const Walk& walk) const {
    return walk.at < walk.end || walk.whole < tile_rows * tile_cols;
  }
  __device__ __forceinline__ Unit advance(Walk& walk, int workers) const {
    Unit unit{walk.whole, 0, steps};
    if (walk.at < walk.end) {
      unit.tile = walk.at / steps;
      unit.first = walk.at - unit.tile * steps;
      unit.last = min(steps, unit.first + walk.end - walk.at);
      walk.at += unit.last - unit.first;
    } else {
      walk.whole += workers;
    }
    return unit;
  }

  // Calls add(worker) for the workers that have later parts of this unit's tile, in the order of k.
  template <class Add>
  __device__ __forceinline__ void for_later_parts(Unit unit, int worker, int workers, Add add) const {
    int at = unit.tile * steps + unit.last;
    const int end = (unit.tile + 1) * steps;
    while (at < end) {
      const int next = min(end, border(++worker + 1, workers));
      if (next > at) add(worker);
      at = max(at, next);
    }
  }

  // Tile row and column, along bands of tile rows.
  __device__ __forceinline__ void place(int tile, int& row, int& col) const {
    const int number = tile / (band * tile_cols), within = tile - number * band * tile_cols;
    const int height = min(band, tile_rows - number * band);
    col = within / height;
    row = number * band + within - col * height;
  }
};
