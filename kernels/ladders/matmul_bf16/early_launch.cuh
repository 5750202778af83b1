// Programmatic dependent launch (sm_90 and later): a kernel that was launched with that attribute starts while the
// kernel ahead of it in the stream still runs, once all blocks of the latter have said so or have ended. What it
// does before it waits (barriers, tensor maps, the launch itself) costs no time then. (PTX ISA, "griddepcontrol")
// Earlier devices have neither this nor clusters of blocks.
#pragma once

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define RT_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)

__device__ __forceinline__ void let_next_kernel_start() { asm volatile("griddepcontrol.launch_dependents;"); }

// Until the kernel ahead has ended and its writes are visible. Without the attribute it returns at once.
__device__ __forceinline__ void wait_for_kernel_ahead() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
#define RT_CLUSTER(blocks)

__device__ __forceinline__ void let_next_kernel_start() {}
__device__ __forceinline__ void wait_for_kernel_ahead() {}
#endif
