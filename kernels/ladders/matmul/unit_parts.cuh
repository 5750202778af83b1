// Parts of a tile along k, one for each block of a cluster, added through distributed shared memory.
//
// Every thread has sums of the whole tile, in pieces of 16 bytes. It sends some of the pieces to each block of the
// cluster, in whose shared memory the stages are free by then; each block adds the pieces that it received, in the
// order of k. Nothing goes through global memory, and all blocks share the additions.
// (PTX ISA, "st.shared::cluster")
#pragma once
#include "async_copy.cuh"

// Threads: with sums, of a block; `thread` is the number of one among them.
template <int Parts, int Pieces, int Threads> struct UnitParts {
  static constexpr int kMost = (Pieces + Parts - 1) / Parts;  // pieces of a thread that a block receives
  static constexpr int kBytes = Parts * kMost * Threads * 16;

  static constexpr __host__ __device__ int first(int rank) { return Pieces * rank / Parts; }

  // All threads of the cluster.
  static __device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  }

  // What the threads do that have no sums.
  static __device__ __forceinline__ void attend() {
    meet();
    meet();
  }

  static __device__ __forceinline__ unsigned place(const void* shared, int thread, int sender, int piece) {
    return shared_address(shared) + ((sender * kMost + piece) * Threads + thread) * 16;
  }

  // Sends the pieces; afterwards those of this block are there. v(piece): the first of four sums.
  template <class Piece>
  static __device__ __forceinline__ void exchange(const void* shared, int thread, int part, Piece v) {
    meet();  // the stages of all blocks have been read
#pragma unroll
    for (int rank = 0; rank < Parts; ++rank) {
      unsigned to;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(place(shared, thread, part, 0)), "r"(rank));
#pragma unroll
      for (int i = first(rank); i < first(rank + 1); ++i) {
        const float* from = v(i);
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + (i - first(rank)) * Threads * 16),
                     "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3])
                     : "memory");
      }
    }
    meet();
  }

  static __device__ __forceinline__ float4 received(const void* shared, int thread, int sender, int piece) {
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(place(shared, thread, sender, piece))
                 : "memory");
    return v;
  }

  // Calls write(piece, sum) for the pieces of this block, added.
  template <class Write>
  static __device__ __forceinline__ void add(const void* shared, int thread, int part, Write write) {
    const int begin = first(part), count = first(part + 1) - begin;
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
      if (i >= count) break;
      float4 total = received(shared, thread, 0, i);
#pragma unroll
      for (int sender = 1; sender < Parts; ++sender) {
        const float4 v = received(shared, thread, sender, i);
        total.x += v.x, total.y += v.y, total.z += v.z, total.w += v.w;
      }
      write(begin + i, total);
    }
  }
};
