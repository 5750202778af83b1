// title: any size
// idea: C in float32 or bfloat16, which each warp stores by itself; operands by rows or by columns at any distance from
//       row to row, copied to aligned rows where the engine has no map of them. Tiles of many widths, and parts along k,
//       so that they fill a whole number of waves: a model of waves chooses one of these compilations
// sizes: any
// block: 384
// needs: sm_90a
// source: own; Osama et al. 2023 (Stream-K); NVIDIA CUTLASS (ping-pong kernel); deepseek-ai, DeepGEMM (a model of cost)
#include "align_rows.cuh"
#include "early_launch.cuh"
#include "product_plan.cuh"
#include "turns.cuh"
#include "work_in_parts.cuh"
#include "work_in_units.cuh"

using Work = std::conditional_t<(Plan::kParts > 1), WorkInParts<Plan>, WorkInUnits<Plan>>;
using Sums = Plan::Sums;

// The stages of a block with their barriers.
struct Stages {
  unsigned char* bytes;
  Barrier *full, *empty;

  __device__ __forceinline__ explicit Stages(unsigned char* shared) : bytes(shared) {
    full = reinterpret_cast<Barrier*>(shared + Plan::kStages * Plan::kStageBytes + Plan::kChunkBytes);
    empty = full + Plan::kStages;
  }
  // By one thread.
  __device__ __forceinline__ void make() const {
    for (int s = 0; s < Plan::kStages; ++s) {
      make_barrier(full + s, 1);
      make_barrier(empty + s, Plan::kSharers * Plan::kCluster);
    }
    publish_barriers();
  }
  __device__ __forceinline__ unsigned char* at(int stage) const { return bytes + stage * Plan::kStageBytes; }

  // The warpgroup has finished a stage, which the blocks of the cluster may fill again.
  __device__ __forceinline__ void release(int stage) const {
    const int thread = threadIdx.x % 128;
    if constexpr (Plan::kCluster > 1) {
      if (thread < Plan::kCluster) arrive_at(empty + stage, thread);
    } else {
      if (thread == 0) arrive(empty + stage);
    }
  }
};

// By one thread.
__device__ __forceinline__ void copy_tiles(const ProductArgs& args, const Place& place, Work& work, Stages stages) {
  Ring<Plan::kStages> ring;
  work.for_each([&](Unit unit) {
    int row, col;
    place.origin(args, unit, row, col);
    for (int step = unit.first; step < unit.last; ++step, ring.advance()) {
      Barrier* full = stages.full + ring.stage;
      wait(stages.empty + ring.stage, ring.parity ^ 1);  // returns at once at first: that phase is complete
      unsigned char* to = stages.at(ring.stage);
      expect(full, Plan::A::kArriving + Plan::B::kArriving);
      Plan::A::copy(to, &args.a, row, step, 0, full);
      Plan::B::copy(to + Plan::A::kBytes, &args.b, col, step, place.rank, full);
    }
  });
}

// Starts the products of a stage; `add`: 0 replaces the sums.
__device__ __forceinline__ void multiply_stage(Sums& sum, const unsigned char* stage, int first_row, int add) {
#pragma unroll
  for (int s = 0; s < kDepth / 16; ++s) {
    const unsigned long long b = Plan::B::describe(stage + Plan::A::kBytes, s);
#pragma unroll
    for (int i = 0; i < Plan::kBlocks; ++i) {
      const unsigned long long a = Plan::A::describe(stage + (first_row + i * 64) * kRowBytes, s);
      Wgmma<Plan::kCols, Plan::A::kTransposed, Plan::B::kTransposed>::run(sum[i], a, b, s == 0 ? add : 1);
    }
  }
}

__device__ __forceinline__ void multiply_tiles(Work& work, Stages stages) {
  const int group = threadIdx.x / 128 - 1, first_row = Plan::kTurns ? 0 : group * Plan::kGroupRows;
  Turns<Plan::kTurns> turns(group);
  Ring<Plan::kStages> ring;
  work.for_each([&](Unit unit) {
    const int steps = unit.last - unit.first;
    if (!turns.takes_next()) {
      ring.skip(steps);
      return;
    }
    turns.begin();
    Sums sum;
    int before = 0;
    for (int step = 0; step < steps; ++step, ring.advance()) {
      wait(stages.full + ring.stage, ring.parity);
      fence_registers();
      multiply_stage(sum, stages.at(ring.stage), first_row, step > 0);
      commit_products();
      wait_products<1>();  // of the previous step; this one continues
      if (step > 0) stages.release(before);
      before = ring.stage;
    }
    turns.end();
    wait_products<0>();
    if (Plan::kParts == 1) stages.release(before);  // with parts no tile follows
    work.finish(sum, unit);
  });
  wait_boxes_read<0>();  // the shared memory must remain valid until then
}

// Of A and B, where their rows are not aligned, before the product.
extern "C" __global__ void __launch_bounds__(256)
    align_operands(const __grid_constant__ RowsToAlign a, const __grid_constant__ RowsToAlign b) {
  align_rows(a);
  align_rows(b);
}

extern "C" __global__ void RT_CLUSTER(CLUSTER* PARTS) __launch_bounds__(Plan::kThreads, 1)
    matmul_bf16(const __grid_constant__ ProductArgs args) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Stages stages(shared);
  const Place place;
  Work work(args, place, shared);
  let_next_kernel_start();
  if (threadIdx.x == 0) {
    prefetch_map(&args.a);
    prefetch_map(&args.b);
    stages.make();
  }
  meet_cluster<Plan::kCluster>();
  wait_for_kernel_ahead();
  if (threadIdx.x < 128) {
    if constexpr (Plan::kGroups > 1) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Plan::kFewRegisters));
    if (threadIdx.x == 0) copy_tiles(args, place, work, stages);
    work.attend();
  } else {
    if constexpr (Plan::kGroups > 1) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Plan::kManyRegisters));
    multiply_tiles(work, stages);
  }
  if constexpr (Plan::kCluster > 1) {
    __syncwarp();
    meet_cluster<Plan::kCluster>();  // no block exits while another one copies to it
  }
}
