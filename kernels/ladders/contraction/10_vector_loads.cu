// title: vector loads of the operator
// idea: of the loads from shared memory those of the operator are most: n * n for a line of n values. Its rows begin at
//       multiples of 16 bytes, and one load brings four values in float32, two in float64, to all threads at once.
//       This is for large n: for small n the operator is in registers since its rows are unrolled, and read once
// block: 256
// threads: min(256, 32 * ceil(max(1, min(4, 4096 // (n * n * n))) * n * n / 32))
// grid: ceil(elements / max(1, min(4, 4096 // (n * n * n))))
// shared: bytes * (max(1, min(4, 4096 // (n * n * n))) * n * n * (2 * (n // 2) + 1) + n * (16 // bytes) * ceil(n * bytes / 16))
// source: CUDA C++ Programming Guide, device memory accesses
#include "contraction.cuh"

using rt::Real;
constexpr int N = rt::kN;
constexpr int kMost = 4096 / rt::kSize;
constexpr int kTogether = kMost < 1 ? 1 : kMost < 4 ? kMost : 4;  // elements of a block; the header counts them, too
constexpr int kUnroll = N * N * sizeof(Real) <= 512 ? N : 4;  // rows: the operator fits registers for small n alone
constexpr int kRow = N | 1, kPlane = N * kRow, kElement = N * kPlane;  // of u in shared memory
constexpr int kWords = 16 / (int)sizeof(Real), kPitch = (N + kWords - 1) / kWords * kWords;  // of the operator

struct alignas(16) Word {
  Real v[kWords];
};

// to = d line, whose values are kStep apart in memory.
template <int kStep> __device__ __forceinline__ void contract_line(Real* to, const Real (&line)[N], const Real* d) {
#pragma unroll kUnroll
  for (int r = 0; r < N; r++) {
    Real sum = 0;
#pragma unroll
    for (int l = 0; l < N; l += kWords) {
      const Word word = *(const Word*)(d + r * kPitch + l);
#pragma unroll
      for (int w = 0; w < kWords && l + w < N; w++) sum = rt::multiply_add(word.v[w], line[l + w], sum);
    }
    to[r * kStep] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Real* d_copy = (Real*)shared;  // [N][kPitch]
  Real* u_copy = d_copy + N * kPitch;  // [kTogether][kElement]
  const long long first = (long long)blockIdx.x * kTogether, at = first * rt::kSize;
  const int count = elements - first < kTogether ? (int)(elements - first) : kTogether;
  const int lines = count * rt::kPlaneSize;
  for (int t = threadIdx.x; t < rt::kPlaneSize; t += blockDim.x) d_copy[t / N * kPitch + t % N] = d[t];
  __syncthreads();
  Real line[N];
  for (int t = threadIdx.x; t < lines; t += blockDim.x) {  // along x, on the way to shared memory
    const int e = t / rt::kPlaneSize, j = t / N % N, k = t % N;
    const long long from = at + e * rt::kSize + j * N + k;
#pragma unroll
    for (int l = 0; l < N; l++) {
      line[l] = u[from + l * rt::kPlaneSize];
      u_copy[e * kElement + l * kPlane + j * kRow + k] = line[l];
    }
    contract_line<rt::kPlaneSize>(gx + from, line, d_copy);
  }
  __syncthreads();
  for (int t = threadIdx.x; t < lines; t += blockDim.x) {
    const Real* plane = u_copy + t / N * kPlane;  // (element, i), and k or j
#pragma unroll
    for (int l = 0; l < N; l++) line[l] = plane[l * kRow + t % N];
    contract_line<N>(gy + at + t / N * rt::kPlaneSize + t % N, line, d_copy);
#pragma unroll
    for (int l = 0; l < N; l++) line[l] = plane[t % N * kRow + l];
    contract_line<1>(gz + at + t * N, line, d_copy);
  }
}
