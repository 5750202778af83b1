// Barriers 1 to 15 of a block, at which some threads wait and others only arrive.
#pragma once

// Waits until `count` threads of the block have arrived.
__device__ __forceinline__ void meet(int barrier, int count) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void report(int barrier, int count) {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(barrier), "r"(count) : "memory");
}
