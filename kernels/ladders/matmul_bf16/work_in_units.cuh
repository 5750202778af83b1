// Workers that take whole tiles of C, and parts along k (units.cuh). A part that begins inside of a tile is handed over
// through global memory to the worker that has the beginning, which stores the tile.
#pragma once
#include "named_barrier.cuh"
#include "product_plan.cuh"
#include "warp_store.cuh"

template <class Plan> struct WorkInUnits {
  using Sums = typename Plan::Sums;
  using Store = WarpStore<typename Plan::Out, Plan::kCols>;
  static constexpr int kPieces = Plan::kBlocks * Plan::kSums / 4;  // four sums of a thread
  static_assert(Plan::kChunkBytes == 4 * Plan::kGroups * Plan::kChunks * Store::kBytes, "chunks");

  const ProductArgs& args;
  const Place& place;
  int group;  // of the threads that multiply
  int sharer, barrier;
  Store store;

  // chunks: behind the stages
  __device__ __forceinline__ WorkInUnits(const ProductArgs& arguments, const Place& of_block, unsigned char* stages)
      : args(arguments),
        place(of_block),
        group(threadIdx.x / 128 - 1),
        sharer(Plan::kTurns ? 0 : group),
        barrier(1 + group),
        store(stages + Plan::kStages * Plan::kStageBytes + (threadIdx.x / 32 - 4) * Plan::kChunks * Store::kBytes) {}

  template <class Each> __device__ __forceinline__ void for_each(Each each) const {
    args.units.for_each(place.worker, place.workers, each);
  }

  // Of the warps that multiply nothing, when the work is done.
  static __device__ __forceinline__ void attend() {}

  __device__ __forceinline__ void finish(Sums& sum, Unit unit) {
    if (unit.first > 0) {
      hand_over(sum);
      return;
    }
    if (unit.last < args.units.steps) take_over(sum, unit);
    int row, col;
    place.origin(args, unit, row, col);
    const int first_row = sharer * Plan::kGroupRows;
#pragma unroll
    for (int i = 0; i < Plan::kBlocks; ++i)
      store.template write<Plan::kChunks>(args, sum[i], row + first_row + i * 64, col);
  }

  // The place of this thread's sums among those of a block: 16 bytes a thread, so that accesses coalesce.
  __device__ __forceinline__ float4* slot(int of_worker) const {
    const int block = of_worker * Plan::kCluster + place.rank;
    return args.parts + (block * Plan::kSharers + sharer) * kPieces * 128LL + threadIdx.x % 128;
  }
  __device__ __forceinline__ unsigned* flag(int of_worker) const {
    return args.flags + (of_worker * Plan::kCluster + place.rank) * Plan::kSharers + sharer;
  }

  __device__ __forceinline__ void hand_over(const Sums& sum) const {
    float4* to = slot(place.worker);
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const float* v = sum[i / (Plan::kSums / 4)] + i % (Plan::kSums / 4) * 4;
      __stcg(to + i * 128, make_float4(v[0], v[1], v[2], v[3]));
    }
    __threadfence();
    meet(barrier, 128);
    if (threadIdx.x % 128 == 0) atomicExch(flag(place.worker), 1u);
  }

  __device__ __forceinline__ void take_over(Sums& sum, Unit unit) const {
    args.units.for_later_parts(unit, place.worker, place.workers, [&](int other) {
      if (threadIdx.x % 128 == 0) {
        while (atomicAdd(flag(other), 0u) == 0) __nanosleep(64);
        atomicExch(flag(other), 0u);  // for the next launch
        __threadfence();
      }
      meet(barrier, 128);
      const float4* from = slot(other);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const float4 part = __ldcg(from + i * 128);
        float* v = sum[i / (Plan::kSums / 4)] + i % (Plan::kSums / 4) * 4;
        v[0] += part.x, v[1] += part.y, v[2] += part.z, v[3] += part.w;
      }
    });
  }
};
