// Parts of a tile along k, one for each block of a cluster, added through distributed shared memory.
//
// Every thread has sums of the whole tile. It sends a slice of them, some columns, to each block of the cluster, in
// whose shared memory the stages are free by then; each block adds the slices that it received, in the order of k,
// and writes them to C. Nothing goes through global memory, and all blocks share the additions.
// (PTX ISA, "st.shared::cluster"; layout of the sums: wgmma.cuh)
#pragma once
#include <cuda_bf16.h>

#include "../matmul/async_copy.cuh"

template <int Parts, int Groups, int Blocks, int Sums> struct ClusterParts {
  static constexpr int kColumns = Sums / 4;                      // pieces of 16 bytes of a thread, 8 columns apart
  static constexpr int kMost = (kColumns + Parts - 1) / Parts;   // of a slice; slices differ by one
  static constexpr int kPieces = Blocks * kMost;                 // of a thread, received from one sender
  static constexpr int kThreads = 128 * Groups;
  static constexpr int kPartBytes = kPieces * kThreads * 16;     // of one sender
  static constexpr int kBytes = Parts * kPartBytes;

  // First piece of the slice of a block.
  static constexpr __host__ __device__ int first(int rank) { return kColumns * rank / Parts; }

  // All threads of the cluster.
  static __device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  }

  // What the threads do that have no sums.
  static __device__ __forceinline__ void attend() {
    meet();
    meet();
  }

  static __device__ __forceinline__ unsigned place(const unsigned char* shared, int sender, int group) {
    return shared_address(shared) + sender * kPartBytes + (group * kPieces * 128 + threadIdx.x % 128) * 16;
  }

  static __device__ __forceinline__ unsigned of_block(unsigned address, int rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
  }

  // Sends the slices; afterwards those of this block are there.
  static __device__ __forceinline__ void exchange(const float (&sum)[Blocks][Sums], const unsigned char* shared,
                                                  int part, int group) {
    meet();  // the stages of all blocks have been read
    const unsigned mine = place(shared, part, group);
#pragma unroll
    for (int rank = 0; rank < Parts; ++rank) {
      const unsigned to = of_block(mine, rank);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const int piece = first(rank) + i % kMost;
        if (piece >= first(rank + 1)) continue;
        const float* v = sum[i / kMost] + piece * 4;
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + i * 128 * 16), "f"(v[0]), "f"(v[1]),
                     "f"(v[2]), "f"(v[3])
                     : "memory");
      }
    }
    meet();
  }

  static __device__ __forceinline__ float4 received(const unsigned char* shared, int sender, int group, int piece) {
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(place(shared, sender, group) + piece * 128 * 16)
                 : "memory");
    return v;
  }

  template <class Out>
  static __device__ __forceinline__ void write2(Out* to, float first, float second, bool both, bool aligned) {
    if constexpr (sizeof(Out) == 2) {
      const __nv_bfloat162 v = __floats2bfloat162_rn(first, second);
      if (both && aligned) {
        *reinterpret_cast<__nv_bfloat162*>(to) = v;
        return;
      }
      to[0] = v.x;
      if (both) to[1] = v.y;
    } else {
      if (both && aligned) {
        *reinterpret_cast<float2*>(to) = make_float2(first, second);
        return;
      }
      to[0] = first;
      if (both) to[1] = second;
    }
  }

  // The slice of this block, added. row, col: of the first sum of the warpgroup.
  template <class Out, class Args>
  static __device__ __forceinline__ void write(const Args& args, const unsigned char* shared, int part, int group,
                                               int row, int col) {
    const int lane = threadIdx.x % 32;
    row += threadIdx.x / 32 % 4 * 16 + lane / 4;
    col += first(part) * 8 + lane % 4 * 2;
    const int count = first(part + 1) - first(part);
    Out* const out = static_cast<Out*>(args.out);
    const bool aligned =
        args.out_cols % 2 == 0 && reinterpret_cast<unsigned long long>(out + col) % (2 * sizeof(Out)) == 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if (kColumns % Parts != 0 && i % kMost >= count) continue;
      float4 total = received(shared, 0, group, i);
#pragma unroll
      for (int sender = 1; sender < Parts; ++sender) {
        const float4 v = received(shared, sender, group, i);
        total.x += v.x, total.y += v.y, total.z += v.z, total.w += v.w;
      }
      const int r = row + i / kMost * 64, c = col + i % kMost * 8;
      if (c >= args.n) continue;
      Out* to = out + r * args.out_cols + c;
      if (r < args.m) write2(to, total.x, total.y, c + 1 < args.n, aligned);
      if (r + 8 < args.m) write2(to + 8 * args.out_cols, total.z, total.w, c + 1 < args.n, aligned);
    }
  }
};
