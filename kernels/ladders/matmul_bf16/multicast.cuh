// Clusters of blocks that share boxes of the copy engine.
#pragma once
#include "../matmul/tma.cuh"

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
