// Barriers 1 to 15 of a block: some threads wait, others only report and go on.
#pragma once

// Wait until `count` threads of the block have come or reported.
__device__ __forceinline__ void meet(int barrier, int count) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void report(int barrier, int count) {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(barrier), "r"(count) : "memory");
}
