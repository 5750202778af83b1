// The pipeline of 11_async_stages.cu for products of any size and layout: persistent blocks, parts of tiles along k
// (units.cuh), either operand stored along k or along its other dimension, with or without rows aligned to 16 bytes.
//
// The sums are multiplied by a factor before they are stored, which gives the assembler freedom in the choice of
// registers, which have two banks of one read a cycle each: a multiply-add whose operands come from one bank takes two
// cycles. (Stores of 16 bytes would require the sums of four columns in four consecutive registers, in the very banks of
// the four values of B that they are multiplied with.)
#pragma once
#include "async_copy.cuh"
#include "lanes.cuh"
#include "unit_parts.cuh"
#include "unit_rows.cuh"
#include "units.cuh"
#include "vec4.cuh"

// Argument of a kernel; the host side has the same layout (raytracer/benchmark/products/kernel.py).
struct UnitArgs {
  const float *a, *b;
  float* c;
  long long pitch_a, pitch_b, pitch_c;  // values from row to row, as stored
  float4* parts;  // sums of parts of tiles, a slot for each block
  unsigned* flags;  // of each block: its part is there; zero between launches
  int m, n, k;
  float factor;  // of C: 1. The compiler does not know it.
  Units units;
};
static_assert(sizeof(UnitArgs) == 104, "raytracer/benchmark/products/kernel.py packs it");

// Copies of tiles of one operand: kWidth rows of A or columns of B, by kDepth steps along k.
template <int Width, int Depth, int Threads, bool AlongK, bool Wide, int Pitch> struct OperandCopy {
  static constexpr int kPieces = Wide ? Width / 4 : Width;  // of a step, if stored along the width
  static constexpr int kCopies = Wide ? Width / 4 * Depth / Threads : Width * Depth / Threads;
  static constexpr int kSide = AlongK ? Threads / Depth : Threads / kPieces;  // between copies of a thread
  static_assert(!(AlongK && Wide) && Threads % (AlongK ? Depth : kPieces) == 0, "shape");

  const float* from;
  int pitch, step, place;  // values from row to row; first step of this thread; its first place
  unsigned offset[AlongK ? kCopies : 1];  // bytes

  // Results of places outside of the matrix are not written. Along the width, such places take the values of the tile
  // before, where there is one: lanes of an asynchronous copy that read the same place are served one by one.
  // Otherwise they are replaced by the last ones inside.
  __device__ __forceinline__ void begin(const float* matrix, long long row_pitch, int first, int extent, int k) {
    const int tid = threadIdx.x, last = extent - 1 - first;
    pitch = static_cast<int>(row_pitch);
    if constexpr (AlongK) {
      step = tid % Depth, place = tid / Depth;
      from = matrix + first * row_pitch + k + step;
#pragma unroll
      for (int i = 0; i < kCopies; ++i) offset[i] = 4u * min(place + i * kSide, last) * pitch;
    } else {
      step = tid / kPieces, place = tid % kPieces * (Wide ? 4 : 1);
      const int most = Wide ? last & ~3 : last;
      const int inside = place <= most ? place : first >= Width ? place - Width : most;
      from = matrix + (k + step) * row_pitch + first + inside;
      offset[0] = 4u * kSide * pitch;
    }
  }

  // left: steps inside of the matrix; zeros beyond.
  __device__ __forceinline__ void copy(float (*to)[Pitch], int left) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      if constexpr (AlongK) {
        copy4(&to[step][place + i * kSide], reinterpret_cast<const char*>(from) + offset[i], step < left ? 4 : 0);
      } else {
        const char* at = reinterpret_cast<const char*>(from) + offset[0] * i;
        if constexpr (Wide)
          copy16(&to[step + i * kSide][place], at, step + i * kSide < left ? 16 : 0);
        else
          copy4(&to[step + i * kSide][place], at, step + i * kSide < left ? 4 : 0);
      }
    }
    from += AlongK ? Depth : static_cast<long long>(pitch) * Depth;
  }
};

// Of a plan: kWarpRows, kWarpCols: warps of a block. kGroups: of four columns of a thread, 16 apart. kStages. kParts:
// blocks of a cluster that divide each tile along k (unit_parts.cuh). kAlongM: A is stored along m, otherwise along k.
// kAlongK: B is stored along k, otherwise along n. kWideA, kWideB: 16-byte copies: stored along m or n, aligned.
// Rows of C that are not aligned are written by neighbouring lanes (unit_rows.cuh).
template <class Plan> struct UnitPipeline {
  static constexpr int kWarpCols = Plan::kWarpCols, kGroups = Plan::kGroups, kStages = Plan::kStages;
  static constexpr int kDepth = 8;  // along k in a stage, which is a step of a unit
  static constexpr int kThreads = 32 * Plan::kWarpRows * kWarpCols;
  static constexpr int kRows = Plan::kWarpRows * 2 * kRowStep, kCols = kWarpCols * kGroups * kColStep;
  // 8 steps x 4 places of the copies of a warp use 32 banks
  static constexpr int kPitchA = kRows + (Plan::kAlongM ? 0 : 4), kPitchB = kCols + (Plan::kAlongK ? 4 : 0);
  static constexpr int kSums = 4 * kGroups;
  static constexpr int kParts = 8 * kSums / 4;  // 16-byte pieces of a thread

  struct Shared {
    float a[kStages][kDepth][kPitchA];
    float b[kStages][kDepth][kPitchB];
    Unit unit;  // here, like what follows, because registers are scarce
    int row, col;
    bool more;
  };
  struct Source {
    OperandCopy<kRows, kDepth, kThreads, !Plan::kAlongM, Plan::kWideA, kPitchA> a;
    OperandCopy<kCols, kDepth, kThreads, Plan::kAlongK, Plan::kWideB, kPitchB> b;
    int left;  // steps that are not copied yet
  };

  static __device__ __forceinline__ void copy(Shared& shared, int stage, Source& s) {
    s.a.copy(shared.a[stage], s.left);
    s.b.copy(shared.b[stage], s.left);
    s.left -= kDepth;
  }

  static __device__ __forceinline__ void multiply(float (&sum)[8][kSums], const Fragments<kGroups>& f) {
#pragma unroll
    for (int q = 0; q < kSums; ++q)
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int r = q % 2 == 0 ? i : 7 - i;  // consecutive multiply-adds share a factor, which is then cached
        sum[r][q] = fmaf(f.a[r], f.b[q], sum[r][q]);
      }
  }

  // The product of `steps` stages, from the source on.
  static __device__ __forceinline__ void multiply_all(Shared& shared, Source& s, float (&sum)[8][kSums], int steps,
                                                      int y, int x) {
#pragma unroll
    for (int stage = 0; stage < kStages - 1; ++stage) {
      copy(shared, stage, s);
      commit_copies();
    }
    wait_copies<kStages - 2>();
    __syncthreads();
    Fragments<kGroups> f[2];
    int reading = 0, writing = kStages - 1;
    f[0].load(&shared.a[0][0][y], &shared.b[0][0][x]);
    for (; steps > 0; --steps) {
#pragma unroll
      for (int i = 0; i < kDepth; ++i) {
        if (i == kDepth - 1) {
          // the next stage is complete, and all threads have read this one
          wait_copies<kStages - 2>();
          __syncthreads();
          reading = reading + 1 == kStages ? 0 : reading + 1;
        }
        const int next = (i + 1) % kDepth;
        f[(i + 1) % 2].load(&shared.a[reading][next][y], &shared.b[reading][next][x]);
        if (i == 0) {
          copy(shared, writing, s);  // to the previous stage, free since the last barrier
          commit_copies();
          writing = writing + 1 == kStages ? 0 : writing + 1;
        }
        multiply(sum, f[i % 2]);
      }
    }
    wait_copies<0>();
    __syncthreads();  // the next unit may use the stages
  }

  static __device__ __forceinline__ float4* slot(const UnitArgs& args, int worker) {
    return args.parts + static_cast<long long>(worker) * kParts * kThreads + threadIdx.x;
  }

  static __device__ __forceinline__ void hand_over(const UnitArgs& args, const float (&sum)[8][kSums]) {
    float4* to = slot(args, blockIdx.x);
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      const float* v = sum[i / kGroups] + i % kGroups * 4;
      __stcg(to + i * kThreads, make_float4(v[0], v[1], v[2], v[3]));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(args.flags + blockIdx.x, 1u);
  }

  static __device__ __forceinline__ void take_over(const UnitArgs& args, float (&sum)[8][kSums], Unit unit) {
    args.units.for_later_parts(unit, blockIdx.x, gridDim.x, [&](int other) {
      if (threadIdx.x == 0) {
        while (atomicAdd(args.flags + other, 0u) == 0) __nanosleep(64);
        atomicExch(args.flags + other, 0u);  // for the next launch
        __threadfence();
      }
      __syncthreads();
      const float4* from = slot(args, other);
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        const float4 part = __ldcg(from + i * kThreads);
        float* v = sum[i / kGroups] + i % kGroups * 4;
        v[0] += part.x, v[1] += part.y, v[2] += part.z, v[3] += part.w;
      }
    });
  }

  static __device__ __forceinline__ void next_unit(Shared& shared, const UnitArgs& args, Units::Walk& walk) {
    shared.more = args.units.more(walk);
    if (!shared.more) return;
    shared.unit = args.units.advance(walk, gridDim.x);
    args.units.place(shared.unit.tile, shared.row, shared.col);
    shared.row *= kRows, shared.col *= kCols;
  }

  static __device__ __forceinline__ void begin(const Shared& shared, const UnitArgs& args, Source& s) {
    const int first = shared.unit.first * kDepth;
    s.a.begin(args.a, args.pitch_a, shared.row, args.m, first);
    s.b.begin(args.b, args.pitch_b, shared.col, args.n, first);
    s.left = min(args.k, shared.unit.last * kDepth) - first;
  }

  static __device__ __forceinline__ void write(Shared& shared, const UnitArgs& args, const float (&sum)[8][kSums]) {
    const int row = shared.row + thread_row(), col = shared.col + thread_col();
    if (args.pitch_c % 4 != 0 || reinterpret_cast<unsigned long long>(args.c) % 16 != 0) {
      using Rows = UnitRows<kGroups>;
      static_assert(sizeof(shared.a) + sizeof(shared.b) >= kThreads / 32 * sizeof(Rows), "space");
      auto& rows = reinterpret_cast<Rows*>(&shared.a)[threadIdx.x / 32];  // the stages have been read
      const int first = row - lane_row(threadIdx.x % 32) * 4, left = col - lane_col(threadIdx.x % 32) * 4;
#pragma unroll
      for (int r = 0; r < 8; ++r)
        rows.write(args.c, args.pitch_c, first + r % 4 + r / 4 * kRowStep, left, args.m, args.n, sum[r]);
      return;
    }
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        const float* v = sum[r] + 4 * g;
        store4(args.c, row + r % 4 + r / 4 * kRowStep, col + g * kColStep, args.m, args.n, args.pitch_c, true,
               make_float4(v[0], v[1], v[2], v[3]));
      }
  }

  static __device__ __forceinline__ int thread_row() {
    return static_cast<int>(threadIdx.x) / 32 / kWarpCols * (2 * kRowStep) + lane_row(threadIdx.x % 32) * 4;
  }
  static __device__ __forceinline__ int thread_col() {
    return static_cast<int>(threadIdx.x) / 32 % kWarpCols * (kGroups * kColStep) + lane_col(threadIdx.x % 32) * 4;
  }

  // One tile for each cluster, a part along k for each block.
  static __device__ __forceinline__ void run_part(Shared& shared, const UnitArgs& args) {
    using Parts = UnitParts<Plan::kParts, kParts, kThreads>;
    const int tile = blockIdx.x / Plan::kParts, part = blockIdx.x % Plan::kParts, steps = args.units.steps;
    int row, col;
    args.units.place(tile, row, col);
    row *= kRows, col *= kCols;
    const int first = steps * part / Plan::kParts, last = steps * (part + 1) / Plan::kParts;
    float sum[8][kSums] = {};
    {
      Source s;
      s.a.begin(args.a, args.pitch_a, row, args.m, first * kDepth);
      s.b.begin(args.b, args.pitch_b, col, args.n, first * kDepth);
      s.left = min(args.k, last * kDepth) - first * kDepth;
      multiply_all(shared, s, sum, last - first, thread_row(), thread_col());
    }
#pragma unroll
    for (int i = 0; i < 8 * kSums; ++i) sum[i / kSums][i % kSums] *= args.factor;
    Parts::exchange(&shared, threadIdx.x, part, [&](int piece) { return sum[piece / kGroups] + piece % kGroups * 4; });
    row += thread_row(), col += thread_col();
    const bool aligned = args.pitch_c % 4 == 0 && reinterpret_cast<unsigned long long>(args.c) % 16 == 0;
    Parts::add(&shared, threadIdx.x, part, [&](int piece, float4 v) {
      const int r = piece / kGroups, g = piece % kGroups;
      store4(args.c, row + r % 4 + r / 4 * kRowStep, col + g * kColStep, args.m, args.n, args.pitch_c, aligned, v);
    });
  }

  static __device__ __forceinline__ void run(Shared& shared, Units::Walk& walk, const UnitArgs& args) {
    if (threadIdx.x == 0) walk = args.units.begin(blockIdx.x, gridDim.x);
    while (true) {
      if (threadIdx.x == 0) next_unit(shared, args, walk);
      __syncthreads();
      if (!shared.more) break;
      float sum[8][kSums] = {};
      {
        Source s;
        begin(shared, args, s);
        multiply_all(shared, s, sum, shared.unit.last - shared.unit.first, thread_row(), thread_col());
      }
#pragma unroll
      for (int i = 0; i < 8 * kSums; ++i) sum[i / kSums][i % kSums] *= args.factor;
      if (shared.unit.first > 0) {
        hand_over(args, sum);
      } else {
        if (shared.unit.last < args.units.steps) take_over(args, sum, shared.unit);
        write(shared, args, sum);
      }
      __syncthreads();
    }
  }
};
