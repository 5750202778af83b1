// Kernels as functions of the CPU, for tests. The threads of a block take turns on one thread of the system, each from
// one barrier to the next: in ascending order, then in descending order, so that a missing barrier is found whichever
// thread needs it. Asynchronous copies are done at once. Warp intrinsics are for all lanes of a warp together; atomics
// of floats are missing.
#pragma once
#include <ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
// static: the blocks run one after the other, their threads share the arrays
#ifdef STATIC_SHARED
#define __shared__ static
#else
#define __shared__
#endif
#define __forceinline__ inline
#define __launch_bounds__(...)
#define RT_DEVICE inline

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;
inline unsigned thread_number;  // in the block: threads along x are neighbours

// A thread of the block, on a stack of its own.
struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool is_done = false;
};
inline std::vector<Fiber> fibers;
inline ucontext_t scheduler;
inline void yield() { swapcontext(&fibers[thread_number].context, &scheduler); }

struct Barrier {
  unsigned members, arrived = 0, phase = 0;
  void wait() {
    const unsigned own = phase;
    ++arrived;
    release();
    while (phase == own) yield();
  }
  void leave() {
    --members;
    release();
  }
  void release() {
    if (arrived == members) arrived = 0, ++phase;
  }
};
inline Barrier block_barrier;
inline void __syncthreads() { block_barrier.wait(); }

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) double2 {
  double x, y;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
template <class T> void __stwb(T* to, T value) { *to = value; }
template <class T> void __stcs(T* to, T value) { *to = value; }

// Loads and copies have the alignment that the hardware requires.
template <class T> T __ldg(const T* from) {
  if ((std::uintptr_t)from % alignof(T) != 0) __builtin_trap();
  return *from;
}
template <class T> T __ldcs(const T* from) { return __ldg(from); }
inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
  if ((std::uintptr_t)to % bytes != 0 || (std::uintptr_t)from % bytes != 0) __builtin_trap();
  std::memcpy(to, from, bytes);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(int) {}

template <class A, class B> auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B> auto max(A a, B b) { return a < b ? b : a; }
inline int __clzll(long long value) { return value == 0 ? 64 : __builtin_clzll((unsigned long long)value); }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz((unsigned)value); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((std::uint64_t)a * b >> 32); }
// Bytes of two words, each chosen by four bits.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  std::uint64_t both = (std::uint64_t)high << 32 | low;
  unsigned result = 0;
  for (int k = 0; k < 4; k++) result |= (unsigned)(both >> (selector >> 4 * k & 7) * 8 & 255) << 8 * k;
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((std::uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
inline float __fdiv_rn(float a, float b) { return a / b; }
inline unsigned atomicAdd(unsigned* to, unsigned value) { return __atomic_fetch_add(to, value, __ATOMIC_RELAXED); }
inline unsigned atomicMin(unsigned* to, unsigned value) {
  unsigned old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value < old && !__atomic_compare_exchange_n(to, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  return old;
}

inline unsigned atomicMax(unsigned* to, unsigned value) {
  unsigned old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value > old && !__atomic_compare_exchange_n(to, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  return old;
}
inline unsigned atomicExch(unsigned* to, unsigned value) { return __atomic_exchange_n(to, value, __ATOMIC_SEQ_CST); }
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __ffs(unsigned value) { return __builtin_ffs((int)value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned value) { return std::bit_cast<float>(value); }

struct Warp {
  Barrier all{32};
  std::array<std::uint64_t, 32> values;
  // the values of all lanes, until the next call
  template <class T> void share(T value) {
    all.wait();
    std::memcpy(&values[thread_number % 32], &value, sizeof(T));
    all.wait();
  }
};
inline std::vector<Warp> warps;  // of the block
template <class T> T of_lane(T value, unsigned lane) {
  Warp& own = warps[thread_number / 32];
  own.share(value);
  std::memcpy(&value, &own.values[lane % 32], sizeof(T));
  return value;
}
template <class T> T __shfl_xor_sync(unsigned, T value, int distance) {
  return of_lane(value, thread_number ^ distance);
}
template <class T> T __shfl_sync(unsigned, T value, int lane, int width = 32) {
  return of_lane(value, (thread_number & ~(width - 1)) + (lane & (width - 1)));
}
template <class T> T __shfl_up_sync(unsigned, T value, int distance, int width = 32) {
  const bool exists = (int)(thread_number & (width - 1)) >= distance;
  return of_lane(value, exists ? thread_number - distance : thread_number);
}
inline unsigned __ballot_sync(unsigned, bool says) {
  Warp& own = warps[thread_number / 32];
  own.share<std::uint64_t>(says);
  unsigned lanes = 0;
  for (int k = 0; k < 32; k++) lanes |= (unsigned)own.values[k] << k;
  return lanes;
}
inline bool __all_sync(unsigned, bool says) { return __ballot_sync(~0u, says) == ~0u; }
inline void __syncwarp() { warps[thread_number / 32].all.wait(); }

template <class... A, std::size_t... i>
void call(void (*kernel)(A...), const std::uint64_t* arguments, std::index_sequence<i...>) {
  kernel((A)arguments[i]...);
}
// All threads of a block, from barrier to barrier.
inline void run_block() {
  const unsigned threads = (unsigned)fibers.size();
  unsigned left = threads;
  for (bool is_ascending = true; left > 0; is_ascending = !is_ascending) {
    left = 0;
    for (unsigned k = 0; k < threads; k++) {
      thread_number = is_ascending ? k : threads - 1 - k;
      threadIdx = {thread_number % blockDim.x, thread_number / blockDim.x};
      if (fibers[thread_number].is_done) continue;
      swapcontext(&scheduler, &fibers[thread_number].context);
      left += !fibers[thread_number].is_done;
    }
  }
}
// All blocks, one after the other.
template <class... A>
void launch(void (*kernel)(A...), Index grid, Index block, const std::uint64_t* arguments) {
  static void (*run)(A...);
  static const std::uint64_t* given;
  constexpr std::size_t kStack = 256 << 10;
  const unsigned threads = block.x * block.y;
  run = kernel, given = arguments;
  gridDim = grid, blockDim = block;
  fibers = std::vector<Fiber>(threads);
  for (Fiber& each : fibers) each.stack.reset(new char[kStack]);
  for (unsigned number = 0; number < grid.x * grid.y; number++) {
    blockIdx = {number % grid.x, number / grid.x};
    block_barrier = {threads};
    warps.assign((threads + 31) / 32, {});
    for (Fiber& each : fibers) {
      each.is_done = false;
      getcontext(&each.context);
      each.context.uc_stack.ss_sp = each.stack.get();
      each.context.uc_stack.ss_size = kStack;
      each.context.uc_link = &scheduler;
      makecontext(
          &each.context,
          +[] {
            call(run, given, std::index_sequence_for<A...>());
            fibers[thread_number].is_done = true;
            block_barrier.leave();
          },
          0);
    }
    run_block();
  }
}
template <class... A> void launch(void (*kernel)(A...), unsigned blocks, unsigned threads,
                                  const std::uint64_t* arguments) {
  launch(kernel, Index{blocks, 1}, Index{threads, 1}, arguments);
}

// dynamic shared memory, of the type with which the kernel declares it
#ifndef SHARED_TYPE
#define SHARED_TYPE uint4
#endif
alignas(256) inline SHARED_TYPE shared[(256 << 10) / sizeof(SHARED_TYPE)];
