// Two warpgroups that take tiles in turns, so that one multiplies while the other one writes its sums.
#pragma once
#include "named_barrier.cuh"

template <bool Apart> struct Turns;

// They share each tile: it is always their turn.
template <> struct Turns<false> {
  __device__ __forceinline__ explicit Turns(int) {}
  __device__ __forceinline__ bool takes_next() { return true; }
  __device__ __forceinline__ void begin() const {}
  __device__ __forceinline__ void end() const {}
};

// A warpgroup may not wait for a stage of its own before the other one has seen its last: parities tell only two phases
// of a barrier apart. It waits for its turn at a named barrier first.
template <> struct Turns<true> {
  int group, tiles = 0;
  __device__ __forceinline__ explicit Turns(int own_group) : group(own_group) {
    if (group == 1) end();
  }
  __device__ __forceinline__ bool takes_next() { return tiles++ % 2 == group; }
  __device__ __forceinline__ void begin() const { meet(3 + group, 256); }
  __device__ __forceinline__ void end() const { report(3 + (1 - group), 256); }
};
