// title: the next elements on their way
// idea: blocks stay and take group after group of elements: asynchronous copies bring the next group to a second buffer while
//       this one is computed. The source expects little of it: a contraction has too few operations to cover its loads, and
//       the blocks of a multiprocessor cover each other's already
// block: 256
// threads: min(256, 32 * ceil(max(1, min(4, 4096 // (n * n * n))) * n * n / 32))
// grid: min(4 * sm, ceil(elements / max(1, min(4, 4096 // (n * n * n)))))
// shared: bytes * (2 * max(1, min(4, 4096 // (n * n * n))) * n * n * (2 * (n // 2) + 1) + n * n)
// source: CUDA C++ Programming Guide, asynchronous data copies
#include <cuda_pipeline.h>

#include "contraction.cuh"

using rt::Real;
constexpr int N = rt::kN;
constexpr int kMost = 4096 / rt::kSize;
constexpr int kTogether = kMost < 1 ? 1 : kMost < 4 ? kMost : 4;  // elements of a block; the header counts them, too
constexpr int kUnroll = N * N * sizeof(Real) <= 512 ? N : 4;  // rows: the operator fits registers for small n alone
constexpr int kRow = N | 1, kPlane = N * kRow, kElement = N * kPlane;  // of u in shared memory
constexpr int kBuffer = kTogether * kElement;

// to = d from, for a line whose values are kStep apart, in shared memory kFrom.
template <int kStep, int kFrom>
__device__ __forceinline__ void contract_line(Real* to, const Real* from, const Real* d) {
  Real line[N];
#pragma unroll
  for (int l = 0; l < N; l++) line[l] = from[l * kFrom];
#pragma unroll kUnroll
  for (int r = 0; r < N; r++) {
    Real sum = 0;
#pragma unroll
    for (int l = 0; l < N; l++) sum = rt::multiply_add(d[r * N + l], line[l], sum);
    to[r * kStep] = sum;
  }
}

// The elements of a group; none behind the last one.
__device__ __forceinline__ int count_of(long long group, long long elements) {
  const long long left = elements - group * kTogether;
  return left <= 0 ? 0 : left < kTogether ? (int)left : kTogether;
}

__device__ __forceinline__ void start_copies(Real* to, const Real* u, long long group, long long elements) {
  const Real* from = u + group * kTogether * rt::kSize;
  for (int t = threadIdx.x; t < count_of(group, elements) * rt::kSize; t += blockDim.x)
    __pipeline_memcpy_async(to + t / N * kRow + t % N, from + t, sizeof(Real));
  __pipeline_commit();  // one for each group, also if it is empty: waits count them
}

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Real* buffers = (Real*)shared;  // [2][kTogether][kElement]
  Real* d_copy = buffers + 2 * kBuffer;
  for (int t = threadIdx.x; t < rt::kPlaneSize; t += blockDim.x) d_copy[t] = d[t];
  start_copies(buffers, u, blockIdx.x, elements);
  int turn = 0;
  for (long long group = blockIdx.x; group * kTogether < elements; group += gridDim.x, turn ^= 1) {
    start_copies(buffers + (turn ^ 1) * kBuffer, u, group + gridDim.x, elements);
    __pipeline_wait_prior(1);
    __syncthreads();  // the copies of all threads are there
    const long long at = group * kTogether * rt::kSize;
    for (int t = threadIdx.x; t < count_of(group, elements) * rt::kPlaneSize; t += blockDim.x) {
      const int e = t / rt::kPlaneSize, line = t % rt::kPlaneSize;
      const Real* element = buffers + turn * kBuffer + e * kElement;
      const Real* plane = element + line / N * kPlane;  // i, and k or j
      contract_line<rt::kPlaneSize, kPlane>(gx + at + e * rt::kSize + line, element + line / N * kRow + line % N,
                                            d_copy);
      contract_line<N, kRow>(gy + at + t / N * rt::kPlaneSize + t % N, plane + line % N, d_copy);
      contract_line<1, 1>(gz + at + t * N, plane + line % N * kRow, d_copy);
    }
    __syncthreads();  // all have read this buffer before copies fill it again
  }
}
