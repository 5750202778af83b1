// Products with few rows or few columns, which the speed of memory limits, not that of arithmetic. The operand with
// many columns is read once, by neighbouring threads from neighbouring places, whatever its alignment.
//
// A block has `Rows` rows of C and some columns. Its threads share the columns and the steps along k; a thread holds
// the sums of all rows for four columns. The rows of the other operand are in shared memory, a chunk of steps at a
// time. Sums of threads are added there at the end, and those of the blocks of a cluster, which divide k, in their
// order, so that the bits of a result do not depend on time. Few columns are the rows of the transpose of C.
#pragma once
#include "skinny_args.cuh"

// Some neighbouring values, in one access of 4 or 16 bytes.
template <class Value, int Pack> struct SkinnyPack {
  static constexpr int kWords = Pack * sizeof(Value) / 4;
  unsigned word[kWords];

  __device__ __forceinline__ void load(const Value* p) {
    static_assert(kWords == 1 || kWords == 4, "width");
    if constexpr (kWords == 1) {
      word[0] = __ldg(reinterpret_cast<const unsigned*>(p));
    } else {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(p));
      word[0] = v.x, word[1] = v.y, word[2] = v.z, word[3] = v.w;
    }
  }
  __device__ __forceinline__ float operator[](int i) const {
    if constexpr (sizeof(Value) == 4) return __uint_as_float(word[i]);
    return __uint_as_float(i % 2 ? word[i / 2] & 0xffff0000u : word[i / 2] << 16);
  }
};
template <class Value> struct SkinnyPack<Value, 1> {
  float value;
  __device__ __forceinline__ void load(const Value* p) { value = skinny_load(p); }
  __device__ __forceinline__ float operator[](int) const { return value; }
};

// Floats of shared memory in one access.
template <int Values> struct SkinnyPiece {
  static constexpr int kValues = Values;
  static __device__ __forceinline__ void load(float* to, const float* from) {
    if constexpr (Values == 4)
      *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
    else
      *reinterpret_cast<float2*>(to) = *reinterpret_cast<const float2*>(from);
  }
};

// Pack: neighbouring steps of a column that a thread loads at once; they lie beside each other, aligned.
template <class Value, class Result, int Rows, int Pack> struct Skinny {
  using Args = SkinnyArgs<Value, Result>;
  static constexpr int kThreads = 256, kCols = 4;
  using Values = SkinnyPack<Value, Pack>;
  static constexpr int kUnroll = Pack * sizeof(Value) == 16 ? 2 : 4;  // loads of a column that are on their way
  static constexpr int kPieces = (Rows + 3) / 4;  // of 16 bytes, of the rows of a step
  // Threads at neighbouring steps read 16 bytes each from all banks: an odd number of pieces lies between them.
  static constexpr int kPitch = Rows < 3 ? Rows : 4 * (kPieces | 1);

  const Args& args;
  float* shared;
  int turn, own;  // threads that take steps in turns; number of this one among them
  int slot, slot_cols;  // first column of this thread in the block; columns of a block
  int row0, col0, part;  // of the block

  __device__ Skinny(const Args& a, float* s) : args(a), shared(s) {
    const int tid = threadIdx.x, low = tid & ((1 << args.step_bits) - 1),
              high = tid >> (args.step_bits + args.col_bits);
    turn = kThreads >> args.col_bits;
    own = low + (high << args.step_bits);
    slot = tid >> args.step_bits & ((1 << args.col_bits) - 1);
    slot_cols = kCols << args.col_bits;
    const int block = blockIdx.x / args.parts;
    part = blockIdx.x % args.parts;
    row0 = block / args.col_blocks * Rows;
    col0 = block % args.col_blocks * slot_cols;
  }

  // The columns of this thread at a step.
  __device__ __forceinline__ void fetch(Values (&x)[kCols], const unsigned (&col)[kCols], int step, int end) const {
    if (step >= end) return;
    const unsigned offset = step * args.many_step;
#pragma unroll
    for (int v = 0; v < kCols; ++v) x[v].load(args.many + (col[v] + offset));
  }

  // Place of a value of the rows in shared memory: rows of a step beside each other, or packed steps of a row.
  __device__ __forceinline__ int place_of(int r, int step) const {
    return Pack == 1 ? step * kPitch + r : r * args.chunk + step;
  }

  // Rows of the steps from `begin` to `end` to shared memory. Neighbouring threads read neighbouring values.
  __device__ __forceinline__ void stage(int begin, int end) const {
    const Value* from = args.few + (row0 * args.few_row + begin * args.few_step);
    const int rows = min(Rows, args.rows - row0), steps = end - begin;
    if (args.few_step == 1) {
#pragma unroll(Rows > 4 ? 1 : 4)
      for (int k = threadIdx.x; k < steps; k += kThreads)
#pragma unroll
        for (int r = 0; r < Rows; ++r)
          shared[place_of(r, k)] = r < rows ? skinny_load(from + (r * args.few_row + k)) : 0.0f;
    } else {
#pragma unroll 8
      for (int i = threadIdx.x; i < steps * Rows; i += kThreads) {
        const int r = i % Rows, k = i / Rows;
        shared[place_of(r, k)] = r < rows ? skinny_load(from + (r * args.few_row + k * args.few_step)) : 0.0f;
      }
    }
  }

  // Adds the products of the steps of one load; at: the first of them in shared memory.
  __device__ __forceinline__ void add(float (&sum)[Rows][kCols], const Values (&x)[kCols], const float* at) const {
    if constexpr (Pack == 1) {
      float few[4 * kPieces];
      if constexpr (Rows > 2) {
#pragma unroll
        for (int r = 0; r < Rows; r += 4)
          *reinterpret_cast<float4*>(few + r) = *reinterpret_cast<const float4*>(at + r);
      } else {
#pragma unroll
        for (int r = 0; r < Rows; ++r) few[r] = at[r];
      }
#pragma unroll
      for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int v = 0; v < kCols; ++v) sum[r][v] = fmaf(few[r], x[v][0], sum[r][v]);
    } else {
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        float few[Pack];
        using Piece = SkinnyPiece<(Pack > 2 ? 4 : 2)>;
#pragma unroll
        for (int i = 0; i < Pack; i += Piece::kValues) Piece::load(few + i, at + r * args.chunk + i);
#pragma unroll
        for (int i = 0; i < Pack; ++i)
#pragma unroll
          for (int v = 0; v < kCols; ++v) sum[r][v] = fmaf(few[i], x[v][i], sum[r][v]);
      }
    }
  }

  __device__ __forceinline__ void multiply(float (&sum)[Rows][kCols]) const {
    unsigned col[kCols];  // columns outside of the matrix take the values of the last one
#pragma unroll
    for (int v = 0; v < kCols; ++v) col[v] = min(col0 + slot + (v << args.col_bits), args.cols - 1) * args.many_col;
    const int first = part * args.part_steps, last = min(args.steps, first + args.part_steps);
    const int stride = turn * Pack;
    Values x[kUnroll][kCols];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) fetch(x[u], col, first + own * Pack + u * stride, last);
    for (int begin = first; begin < last; begin += args.chunk) {
      const int end = min(last, begin + args.chunk);
      if (begin > first) __syncthreads();  // the chunk before has been read
      stage(begin, end);
      __syncthreads();
      for (int k = begin + own * Pack; k < end; k += kUnroll * stride) {
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          const int step = k + u * stride;
          if (step >= end) break;
          add(sum, x[u], shared + place_of(0, step - begin));
          fetch(x[u], col, step + kUnroll * stride, last);
        }
      }
    }
  }

  // Row and column of the value of C in the block with a number: neighbours lie beside each other in memory.
  __device__ __forceinline__ void place(int number, int& r, int& w) const {
    if (args.c_row == 1) {
      r = number % Rows, w = number / Rows;
    } else {
      r = number >> (args.col_bits + 2), w = number & (slot_cols - 1);
    }
  }

  __device__ __forceinline__ void store(int r, int w, float v) const {
    if (row0 + r < args.rows && col0 + w < args.cols)
      skinny_store(args.c + ((row0 + r) * args.c_row + (col0 + w) * args.c_col), v);
  }

  // Sums of all threads that share a column, in shared memory: that of row r and column w at r * slot_cols + w.
  __device__ __forceinline__ void add_threads(const float (&sum)[Rows][kCols]) const {
    const int count = Rows * slot_cols, pitch = count + 1;
    __syncthreads();  // the rows have been read
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int v = 0; v < kCols; ++v) shared[own * pitch + r * slot_cols + slot + (v << args.col_bits)] = sum[r][v];
    __syncthreads();
    const int groups = min(turn, max(1, kThreads / count));  // of threads that add some of the sums each
    for (int i = threadIdx.x; i < count * groups; i += kThreads) {
      const int group = i / count;
      float* at = shared + i % count;
      float total = at[group * pitch];
      for (int other = group + groups; other < turn; other += groups) total += at[other * pitch];
      at[group * pitch] = total;
    }
    __syncthreads();
    if (groups == 1) return;
    for (int i = threadIdx.x; i < count; i += kThreads) {
      float total = shared[i];
      for (int group = 1; group < groups; ++group) total += shared[group * pitch + i];
      shared[i] = total;
    }
    __syncthreads();
  }

  static __device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  }

  static __device__ __forceinline__ float of_part(const float* at, int part) {
    unsigned address;
    float v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(address)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(at))), "r"(part));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory");
    return v;
  }

  __device__ __forceinline__ void run() const {
    float sum[Rows][kCols] = {};
    multiply(sum);
    if (turn == 1 && args.parts == 1) {
#pragma unroll
      for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int v = 0; v < kCols; ++v) store(r, slot + (v << args.col_bits), sum[r][v]);
      return;
    }
    add_threads(sum);
    const int count = Rows * slot_cols;
    if (args.parts > 1) meet();  // the sums of all blocks are there
    for (int i = count * part / args.parts + threadIdx.x; i < count * (part + 1) / args.parts; i += kThreads) {
      int r, w;
      place(i, r, w);
      const float* at = shared + r * slot_cols + w;
      float total = *at;
      if (args.parts > 1) {
        total = of_part(at, 0);
        for (int other = 1; other < args.parts; ++other) total += of_part(at, other);
      }
      store(r, w, total);
    }
    if (args.parts > 1) meet();  // no block ends before its sums have been read
  }
};
