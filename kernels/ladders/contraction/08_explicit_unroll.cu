// title: rows unrolled
// idea: the loop over the rows of the result is unrolled, too: no branch and no counter, and every place in the operator is a
//       constant, so that the compiler reads each value once for the lines along x, y and z: for n = 8 the whole operator is
//       in registers. For large n it does not fit there; four rows are unrolled then
// block: 256
// threads: min(256, 32 * ceil(max(1, min(4, 4096 // (n * n * n))) * n * n / 32))
// grid: ceil(elements / max(1, min(4, 4096 // (n * n * n))))
// shared: bytes * (max(1, min(4, 4096 // (n * n * n))) * n * n * n + n * n)
// source: CUDA C++ Best Practices Guide, loop unrolling
#include "contraction.cuh"

using rt::Real;
constexpr int N = rt::kN;
constexpr int kMost = 4096 / rt::kSize;
constexpr int kTogether = kMost < 1 ? 1 : kMost < 4 ? kMost : 4;  // elements of a block; the header counts them, too
constexpr int kUnroll = N * N * sizeof(Real) <= 512 ? N : 4;  // rows: the operator fits registers for small n alone

// to = d from, for a line whose values are kStep apart.
template <int kStep> __device__ __forceinline__ void contract_line(Real* to, const Real* from, const Real* d) {
  Real line[N];
#pragma unroll
  for (int l = 0; l < N; l++) line[l] = from[l * kStep];
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
  Real* u_copy = (Real*)shared;  // [kTogether][N][N][N]
  Real* d_copy = u_copy + kTogether * rt::kSize;
  const long long first = (long long)blockIdx.x * kTogether, at = first * rt::kSize;
  const int count = elements - first < kTogether ? (int)(elements - first) : kTogether;
  for (int t = threadIdx.x; t < rt::kPlaneSize; t += blockDim.x) d_copy[t] = d[t];
  for (int t = threadIdx.x; t < count * rt::kSize; t += blockDim.x) u_copy[t] = u[at + t];
  __syncthreads();
  for (int t = threadIdx.x; t < count * rt::kPlaneSize; t += blockDim.x) {
    const int element = t / rt::kPlaneSize * rt::kSize, line = t % rt::kPlaneSize;
    const int x = element + line, y = t / N * rt::kPlaneSize + t % N, z = t * N;  // first value of the line
    contract_line<rt::kPlaneSize>(gx + at + x, u_copy + x, d_copy);
    contract_line<N>(gy + at + y, u_copy + y, d_copy);
    contract_line<1>(gz + at + z, u_copy + z, d_copy);
  }
}
