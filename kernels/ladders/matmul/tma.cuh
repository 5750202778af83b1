// The copy engine (TMA), controlled by tensor maps, and the barriers in shared memory at which its copies
// complete (sm_90 and later; PTX ISA, "mbarrier" and "cp.async.bulk.tensor").
//
// One thread requests a box of a matrix. The engine computes addresses, swizzles, fills elements outside of
// the matrix with zeros and counts bytes at a barrier. A phase of a barrier ends when all expected arrivals
// and all announced bytes are complete. A waiting thread identifies the phase by its parity.
#pragma once
#include <cuda.h>

#include "async_copy.cuh"

using Barrier = unsigned long long;

__device__ __forceinline__ void make_barrier(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// By the thread that initialised the barriers: makes them visible to the copy engine and to other blocks of
// the cluster.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One arrival, which also announces the bytes of the copies of this phase.
__device__ __forceinline__ void expect(Barrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Arrives at the same barrier of block `rank` of the cluster.
__device__ __forceinline__ void arrive_at(Barrier* barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}\n" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ void wait(Barrier* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra finished;\nbra again;\nfinished:\n}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// Prefetches the map.
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Copies the box whose first element is (row, col) to shared memory.
__device__ __forceinline__ void copy_box(void* to, const CUtensorMap* map, int row, int col, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(col), "r"(row)
      : "memory");
}

// A box that the blocks of a mask receive, at the same offset, each counted at its own barrier; without a cluster it is
// for this block.
template <int Blocks>
__device__ __forceinline__ void copy_box_to(void* to, const CUtensorMap* map, int row, int col, Barrier* barrier,
                                            int blocks) {
  if constexpr (Blocks > 1)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
        "l"(map), "r"(shared_address(barrier)), "r"(col), "r"(row), "h"(static_cast<unsigned short>(blocks))
        : "memory");
  else
    copy_box(to, map, row, col, barrier);
}

// All threads of the cluster, or of the block if there is none.
template <int Cluster> __device__ __forceinline__ void meet_cluster() {
  if constexpr (Cluster > 1)
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  else
    __syncthreads();
}

// Copies shared memory to the box, without elements outside of the matrix. Follow with commit_boxes.
__device__ __forceinline__ void write_box(const CUtensorMap* map, int row, int col, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(col), "r"(row)
               : "memory");
}

__device__ __forceinline__ void commit_boxes() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until the shared memory of all but the youngest `Pending` groups has been read.
template <int Pending> __device__ __forceinline__ void wait_boxes_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

// The offset at which the copy engine stores a byte of a box with rows of 128 bytes. The 16-byte pieces of a row are
// permuted, so that the same piece of eight consecutive rows is in eight different groups of four banks: bits 4 to 6 of
// the offset are XORed with bits 7 to 9. (CUDA programming guide, "Shared memory swizzling")
__device__ __forceinline__ int swizzle(int offset) { return offset ^ (offset >> 3 & 0x70); }

// A position in a ring of stages, and the parity of the phase of its barriers.
template <int Stages> struct Ring {
  int stage = 0, parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ __forceinline__ void skip(int count) {
    stage += count;
    parity ^= stage / Stages & 1;
    stage %= Stages;
  }
};
