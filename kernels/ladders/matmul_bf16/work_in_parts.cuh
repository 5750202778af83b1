// Clusters that take a tile of C each, which their blocks divide along k. They add their sums through distributed
// shared memory (unit_parts.cuh), and each block stores the pieces that it received.
#pragma once
#include "../matmul/unit_parts.cuh"
#include "product_plan.cuh"

// Two neighbours of a row of C, aligned.
__device__ __forceinline__ void store_pair(float* to, float first, float second) {
  *reinterpret_cast<float2*>(to) = make_float2(first, second);
}
__device__ __forceinline__ void store_pair(bf16* to, float first, float second) {
  *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(first, second);
}

template <class Plan> struct WorkInParts {
  using Sums = typename Plan::Sums;
  // Pieces are four sums of a thread, by columns: of 8 columns of a block of 64 rows.
  using Parts = UnitParts<Plan::kParts, Plan::kBlocks * Plan::kSums / 4, 128 * Plan::kGroups>;
  static_assert(Parts::kBytes <= Plan::kStages * Plan::kStageBytes, "parts take the place of the stages");

  const ProductArgs& args;
  const Place& place;
  unsigned char* stages;

  __device__ __forceinline__ WorkInParts(const ProductArgs& arguments, const Place& of_block, unsigned char* shared)
      : args(arguments), place(of_block), stages(shared) {}

  template <class Each> __device__ __forceinline__ void for_each(Each each) const {
    const int steps = args.units.steps;
    each(Unit{place.worker, steps * place.part / Plan::kParts, steps * (place.part + 1) / Plan::kParts});
  }

  // Of the warps that multiply nothing: all threads of the cluster meet.
  static __device__ __forceinline__ void attend() {
    __syncwarp();
    Parts::attend();
  }

  __device__ __forceinline__ void finish(Sums& sum, Unit unit) {
    constexpr int kBlocks = Plan::kBlocks;
    if (unit.first == unit.last) clear(sum);
    int row, col;
    place.origin(args, unit, row, col);
    const int thread = threadIdx.x - 128;
    Parts::exchange(stages, thread, place.part, [&](int piece) { return sum[piece % kBlocks] + piece / kBlocks * 4; });
    row += thread / 128 * Plan::kGroupRows + thread / 32 % 4 * 16 + thread % 32 / 4, col += thread % 4 * 2;
    Parts::add(stages, thread, place.part, [&](int piece, float4 v) {
      const int r = row + piece % kBlocks * 64, c = col + piece / kBlocks * 8;
      write(r, c, v.x, v.y);
      write(r + 8, c, v.z, v.w);
    });
  }

  // A part without steps adds nothing.
  static __device__ __forceinline__ void clear(Sums& sum) {
#pragma unroll
    for (int i = 0; i < Plan::kBlocks * Plan::kSums; ++i) sum[i / Plan::kSums][i % Plan::kSums] = 0.0f;
  }

  // Two neighbours of a row of C.
  __device__ __forceinline__ void write(int row, int col, float first, float second) const {
    if (row >= args.m || col >= args.n) return;
    using Out = typename Plan::Out;
    Out* to = static_cast<Out*>(args.out) + row * args.out_cols + col;
    if (col + 1 < args.n && reinterpret_cast<unsigned long long>(to) % (2 * sizeof(Out)) == 0) {
      store_pair(to, first, second);
      return;
    }
    to[0] = static_cast<Out>(first);
    if (col + 1 < args.n) to[1] = static_cast<Out>(second);
  }
};
