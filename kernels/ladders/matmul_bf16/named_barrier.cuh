// Barriers 1 to 15 of a block, each for some of its threads.
#pragma once

// Waits until `count` threads of the block have arrived.
__device__ __forceinline__ void meet(int barrier, int count) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(barrier), "r"(count) : "memory");
}
