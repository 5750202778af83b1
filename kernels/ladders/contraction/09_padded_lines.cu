// title: padded lines
// idea: no bank conflicts at all: lines of u in shared memory have an odd length, so that for n = 8 rows begin 9 banks and
//       planes 8 banks apart, and the 32 lines of a warp along y or z begin in 32 banks. Along x a thread has its line in
//       registers on the way from global to shared memory
// block: 256
// threads: min(256, 32 * ceil(max(1, min(4, 4096 // (n * n * n))) * n * n / 32))
// grid: ceil(elements / max(1, min(4, 4096 // (n * n * n))))
// shared: bytes * (max(1, min(4, 4096 // (n * n * n))) * n * n * (2 * (n // 2) + 1) + n * n)
// source: CUDA C++ Best Practices Guide, memory banks
#include "contraction.cuh"

using rt::Real;
constexpr int N = rt::kN;
constexpr int kMost = 4096 / rt::kSize;
constexpr int kTogether = kMost < 1 ? 1 : kMost < 4 ? kMost : 4;  // elements of a block; the header counts them, too
constexpr int kUnroll = N * N * sizeof(Real) <= 512 ? N : 4;  // rows: the operator fits registers for small n alone
constexpr int kRow = N | 1, kPlane = N * kRow, kElement = N * kPlane;  // of u in shared memory

// to = d line, whose values are kStep apart in memory.
template <int kStep> __device__ __forceinline__ void contract_line(Real* to, const Real (&line)[N], const Real* d) {
#pragma unroll kUnroll
  for (int r = 0; r < N; r++) {
    Real sum = 0;
#pragma unroll
    for (int l = 0; l < N; l++) sum = rt::multiply_add(d[r * N + l], line[l], sum);
    to[r * kStep] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  extern __shared__ uint4 shared[];
  Real* u_copy = (Real*)shared;  // [kTogether][kElement]
  Real* d_copy = u_copy + kTogether * kElement;
  const long long first = (long long)blockIdx.x * kTogether, at = first * rt::kSize;
  const int count = elements - first < kTogether ? (int)(elements - first) : kTogether;
  const int lines = count * rt::kPlaneSize;
  for (int t = threadIdx.x; t < rt::kPlaneSize; t += blockDim.x) d_copy[t] = d[t];
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
