// Products of any size, layout and type of C: TMA feeds wgmma, as in tma_wgmma.cuh, with the tile, the order of
// work and the epilogue chosen by a plan.
#pragma once
#include <cuda_bf16.h>

#include <type_traits>

#include "../matmul/tma.cuh"
#include "../matmul/unit_parts.cuh"
#include "../matmul/units.cuh"
#include "early_launch.cuh"
#include "named_barrier.cuh"
#include "warp_store.cuh"
#include "wgmma.cuh"

// Argument of a kernel; the host side has the same layout (raytracer/benchmark/products/kernel.py).
struct ProductArgs {
  CUtensorMap a, b, c;
  void* out;           // C, row-major
  long long out_cols;  // from row to row of C
  float4* parts;       // sums of parts of tiles, a slot for each block
  unsigned* flags;     // of each block and warpgroup: its part is there; zero between launches
  int m, n;
  Units units;
  int mapped;  // whether `c` may be used; otherwise rows of C are no aligned pieces of 16 bytes
};
static_assert(sizeof(ProductArgs) == 512, "raytracer/benchmark/products/kernel.py packs it");

// Of a plan:
//   kGroups, kBlocks: multiplying warpgroups, and blocks of 64 rows of each
//   kTurns: two warpgroups take tiles in turns, instead of sharing each
//   kCluster: blocks with adjacent rows that share the columns of B
//   kParts: blocks of a cluster that divide each tile along k (unit_parts.cuh)
//   kChunks: staging of C, of 2 KB for each warp
//   kTransposedA, kTransposedB: A is stored along m, B along n
//   Out: the type of C
template <class Plan> struct Product {
  static constexpr int kGroups = Plan::kGroups, kBlocks = Plan::kBlocks;
  static constexpr int kCluster = Plan::kCluster, kParts = Plan::kParts;
  static constexpr bool kTurns = Plan::kTurns;
  static constexpr int kGroupRows = 64 * kBlocks;
  static constexpr int kRows = kTurns ? kGroupRows : kGroups * kGroupRows;
  static constexpr int kCols = Plan::kCols, kStages = Plan::kStages;
  static constexpr int kThreads = 128 * (1 + kGroups);
  static constexpr int kDepth = 64, kRowBytes = 128, kPanelBytes = 64 * kRowBytes;
  static constexpr int kBytesA = kRows * kRowBytes, kBytesB = kCols * kRowBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  // Rows of a box of B, of eight, as the swizzling: where they do not divide the columns, the last box of a cluster
  // begins early, and repeats some of the one before.
  static constexpr int kBoxB = Plan::kTransposedB ? kCols / kCluster : (kCols / 8 + kCluster - 1) / kCluster * 8;
  static constexpr int kArriving = kStageBytes + (kCluster * kBoxB - kCols) * kRowBytes;
  using Store = WarpStore<typename Plan::Out, kCols>;
  static constexpr int kSharers = kTurns ? 1 : kGroups;  // warpgroups that read a stage
  static constexpr int kSums = kCols / 2;
  static_assert(kCols % 8 == 0 && kBoxB <= kCols && kRows <= 256, "boxes");
  static_assert(!kTurns || kGroups == 2, "turns");
  static_assert(!Plan::kTransposedB || kCols % 64 == 0, "panels");
  static_assert(kParts == 1 || (kCluster == 1 && !kTurns && kSums >= 4 * kParts), "parts");
  using Parts = UnitParts<kParts, kBlocks * kSums / 4, 128 * kGroups>;  // pieces of 8 columns, by columns
  static_assert(kParts == 1 || Parts::kBytes <= kStages * kStageBytes, "parts take the place of the stages");

  const ProductArgs& args;
  unsigned char* shared;  // stages, then chunks of C for each warp, then barriers
  Barrier *full, *empty;
  int rank, part;  // of the block among those that share columns of B, or a tile
  int worker, workers;  // clusters

  __device__ __forceinline__ Product(const ProductArgs& arguments, unsigned char* bytes)
      : args(arguments),
        shared(bytes),
        rank(0),
        part(0),
        worker(blockIdx.x / (kCluster * kParts)),
        workers(gridDim.x / (kCluster * kParts)) {
    full = reinterpret_cast<Barrier*>(chunks() + 4 * kGroups * Plan::kChunks * Store::kBytes);
    empty = full + kStages;
    if constexpr (kCluster > 1) rank = blockIdx.x % kCluster;
    if constexpr (kParts > 1) part = blockIdx.x % kParts;
  }
  __device__ __forceinline__ unsigned char* chunks() const { return shared + kStages * kStageBytes; }

  // Calls each(unit) for what this block computes. With parts it is one tile, of which it has a part.
  template <class Each> __device__ __forceinline__ void for_each(Each each) const {
    if constexpr (kParts > 1)
      each(Unit{worker, args.units.steps * part / kParts, args.units.steps * (part + 1) / kParts});
    else
      args.units.for_each(worker, workers, each);
  }

  // First row and column of this block's tile. The last tiles move back into the matrix and repeat some
  // sums of their neighbours: the copy engine is slow where it fills in zeros. Both write the same bits, since all
  // tiles are summed up in the same order, unless some are divided along k. Operands stored along m or n stay where
  // they are: from places that are no multiples of 16 bytes the engine does not read (illegal instruction).
  __device__ __forceinline__ void origin(Unit unit, int& row, int& col) const {
    args.units.place(unit.tile, row, col);
    row = (row * kCluster + rank) * kRows;
    col *= kCols;
    if (args.units.split_tiles == 0) {
      if constexpr (!Plan::kTransposedA) row = min(row, max(0, (args.m - kRows + 7) & ~7));
      if constexpr (!Plan::kTransposedB) col = min(col, max(0, (args.n - kCols + 7) & ~7));
    }
  }

  __device__ __forceinline__ void copy_a(unsigned char* to, int row, int step, Barrier* there) const {
    if constexpr (Plan::kTransposedA) {
#pragma unroll
      for (int i = 0; i < kRows / 64; ++i) copy_box(to + i * kPanelBytes, &args.a, step * kDepth, row + i * 64, there);
    } else {
      copy_box(to, &args.a, row, step * kDepth, there);
    }
  }
  // The share of this block, to all blocks of the cluster.
  __device__ __forceinline__ void copy_b(unsigned char* to, int col, int step, Barrier* there) const {
    const int blocks = (1 << kCluster) - 1;
    if constexpr (Plan::kTransposedB) {
      const int first = rank * (kDepth / kCluster);
#pragma unroll
      for (int i = 0; i < kCols / 64; ++i)
        copy_box_to<kCluster>(to + i * kPanelBytes + first * kRowBytes, &args.b, step * kDepth + first, col + i * 64,
                              there, blocks);
    } else {
      const int first = min(rank * kBoxB, kCols - kBoxB);
      copy_box_to<kCluster>(to + first * kRowBytes, &args.b, col + first, step * kDepth, there, blocks);
    }
  }

  // By one thread.
  __device__ __forceinline__ void copy_all() const {
    Ring<kStages> ring;
    for_each([&](Unit unit) {
      int row, col;
      origin(unit, row, col);
      for (int step = unit.first; step < unit.last; ++step, ring.advance()) {
        wait(empty + ring.stage, ring.parity ^ 1);  // returns at once at first: that phase is complete
        unsigned char* to = shared + ring.stage * kStageBytes;
        expect(full + ring.stage, kArriving);
        copy_a(to, row, step, full + ring.stage);
        copy_b(to + kBytesA, col, step, full + ring.stage);
      }
    });
  }

  // The warpgroup has finished a stage, which the blocks of the cluster may fill again.
  __device__ __forceinline__ void release(int stage) const {
    const int thread = threadIdx.x % 128;
    if constexpr (kCluster > 1) {
      if (thread < kCluster) arrive_at(empty + stage, thread);
    } else {
      if (thread == 0) arrive(empty + stage);
    }
  }

  using Sums = float[kBlocks][kSums];

  __device__ __forceinline__ void multiply(Sums& sum, const unsigned char* stage, int first_row, int add) const {
#pragma unroll
    for (int s = 0; s < kDepth / 16; ++s) {
      unsigned long long b;
      if constexpr (Plan::kTransposedB)
        b = describe_panels(stage + kBytesA + s * 16 * kRowBytes);
      else
        b = describe_tile(stage + kBytesA + s * 32);
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
        const unsigned char* rows = stage + (first_row + i * 64) * kRowBytes;  // also the panel of these rows
        unsigned long long a;
        if constexpr (Plan::kTransposedA)
          a = describe_panels(rows + s * 16 * kRowBytes);
        else
          a = describe_tile(rows + s * 32);
        Wgmma<kCols, Plan::kTransposedA, Plan::kTransposedB>::run(sum[i], a, b, s == 0 ? add : 1);
      }
    }
  }

  // The place of this thread's sums among those of a block: 16 bytes a thread, so that accesses coalesce.
  __device__ __forceinline__ float4* slot(int of_worker, int group) const {
    const int block = of_worker * kCluster + rank;
    return args.parts + (block * kSharers + group) * (kBlocks * kSums / 4) * 128LL + threadIdx.x % 128;
  }
  __device__ __forceinline__ unsigned* flag(int of_worker, int group) const {
    return args.flags + (of_worker * kCluster + rank) * kSharers + group;
  }

  __device__ __forceinline__ void hand_over(const Sums& sum, int group, int barrier) const {
    float4* to = slot(worker, group);
#pragma unroll
    for (int i = 0; i < kBlocks * kSums / 4; ++i) {
      const float* v = sum[i / (kSums / 4)] + i % (kSums / 4) * 4;
      __stcg(to + i * 128, make_float4(v[0], v[1], v[2], v[3]));
    }
    __threadfence();
    meet(barrier, 128);
    if (threadIdx.x % 128 == 0) atomicExch(flag(worker, group), 1u);
  }

  __device__ __forceinline__ void take_over(Sums& sum, Unit unit, int group, int barrier) const {
    args.units.for_later_parts(unit, worker, workers, [&](int other) {
      if (threadIdx.x % 128 == 0) {
        while (atomicAdd(flag(other, group), 0u) == 0) __nanosleep(64);
        atomicExch(flag(other, group), 0u);  // for the next launch
        __threadfence();
      }
      meet(barrier, 128);
      const float4* from = slot(other, group);
#pragma unroll
      for (int i = 0; i < kBlocks * kSums / 4; ++i) {
        const float4 part = __ldcg(from + i * 128);
        float* v = sum[i / (kSums / 4)] + i % (kSums / 4) * 4;
        v[0] += part.x, v[1] += part.y, v[2] += part.z, v[3] += part.w;
      }
    });
  }

  // Two neighbours of a row of C.
  __device__ __forceinline__ void write2(int row, int col, float first, float second) const {
    if (row >= args.m || col >= args.n) return;
    using Out = typename Plan::Out;
    Out* to = static_cast<Out*>(args.out) + row * args.out_cols + col;
    if (col + 1 < args.n && reinterpret_cast<unsigned long long>(to) % (2 * sizeof(Out)) == 0) {
      if constexpr (sizeof(Out) == 2)
        *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(first, second);
      else
        *reinterpret_cast<float2*>(to) = make_float2(first, second);
      return;
    }
    to[0] = static_cast<Out>(first);
    if (col + 1 < args.n) to[1] = static_cast<Out>(second);
  }

  // A part without steps adds nothing.
  static __device__ __forceinline__ void clear(Sums& sum) {
#pragma unroll
    for (int i = 0; i < kBlocks * kSums; ++i) sum[i / kSums][i % kSums] = 0.0f;
  }

  __device__ __forceinline__ void multiply_all() const {
    const int group = threadIdx.x / 128 - 1;
    const int first_row = kTurns ? 0 : group * kGroupRows, sharer = kTurns ? 0 : group, barrier = 1 + group;
    // Whose turn it is to multiply. A warpgroup may not wait for a stage of its own before the other one has seen
    // its last: parities tell only two phases of a barrier apart.
    const int my_turn = 1 + kGroups + group, other_turn = 1 + kGroups + (1 - group);
    if (kTurns && group == 1) report(other_turn, 256);
    Store store(chunks() + (threadIdx.x / 32 - 4) * Plan::kChunks * Store::kBytes);
    Ring<kStages> ring;
    int turn = 0;
    for_each([&](Unit unit) {
      const int steps = unit.last - unit.first;
      if (kTurns && turn++ % kGroups != group) {
        ring.skip(steps);
        return;
      }
      if (kTurns) meet(my_turn, 256);
      Sums sum;
      int before = 0;
      for (int step = 0; step < steps; ++step, ring.advance()) {
        wait(full + ring.stage, ring.parity);
        fence_registers();
        multiply(sum, shared + ring.stage * kStageBytes, first_row, step > 0);
        commit_products();
        wait_products<1>();  // of the previous step; this one continues
        if (step > 0) release(before);
        before = ring.stage;
      }
      if (kTurns) report(other_turn, 256);
      wait_products<0>();
      if constexpr (kParts > 1) {
        if (steps == 0) clear(sum);
        int row, col;
        origin(unit, row, col);
        const int thread = threadIdx.x - 128;
        Parts::exchange(shared, thread, part, [&](int piece) { return sum[piece % kBlocks] + piece / kBlocks * 4; });
        row += first_row + thread / 32 % 4 * 16 + thread % 32 / 4, col += thread % 4 * 2;
        Parts::add(shared, thread, part, [&](int piece, float4 v) {
          const int r = row + piece % kBlocks * 64, c = col + piece / kBlocks * 8;
          write2(r, c, v.x, v.y);
          write2(r + 8, c, v.z, v.w);
        });
        return;
      }
      release(before);
      if (unit.first > 0) {
        hand_over(sum, sharer, barrier);
        return;
      }
      if (unit.last < args.units.steps) take_over(sum, unit, sharer, barrier);
      int row, col;
      origin(unit, row, col);
#pragma unroll
      for (int i = 0; i < kBlocks; ++i)
        store.template write<Plan::kChunks>(args, sum[i], row + first_row + i * 64, col);
    });
    wait_boxes_read<0>();  // the shared memory must remain valid until then
  }

  __device__ __forceinline__ void run() const {
    let_next_kernel_start();
    if (threadIdx.x == 0) {
      prefetch_map(&args.a);
      prefetch_map(&args.b);
      for (int s = 0; s < kStages; ++s) {
        make_barrier(full + s, 1);
        make_barrier(empty + s, kSharers * kCluster);
      }
      publish_barriers();
    }
    meet_cluster<kCluster>();
    wait_for_kernel_ahead();
    if (threadIdx.x < 128) {
      if constexpr (kGroups == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if constexpr (kGroups == 3) asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
      if (threadIdx.x == 0) copy_all();
      if constexpr (kParts > 1) {
        __syncwarp();
        Parts::attend();
      }
    } else {
      if constexpr (kGroups == 2) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      if constexpr (kGroups == 3) asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
      multiply_all();
    }
    if constexpr (kCluster > 1) {
      __syncwarp();
      meet_cluster<kCluster>();  // no block exits while another one copies to it
    }
  }
};
