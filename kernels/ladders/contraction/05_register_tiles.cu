// title: register tiles
// idea: a thread computes a whole line: it reads the n values once into registers and uses each of them for n rows, so that a
//       point costs one load of u instead of n along each axis. All threads read the same value of the operator, which
//       shared memory serves at once. A block has one element
// block: 256
// threads: min(256, 32 * ceil(n * n / 32))
// grid: elements
// source: Świrydowicz et al. 2019, Acceleration of tensor-product operations for high-order finite element methods
#include "contraction.cuh"

using rt::Real;
constexpr int N = rt::kN;

// In the shared memory of a block without opting in to more. Only n = 20 in float64 is larger; its elements are
// read from global memory, through the first-level cache.
constexpr bool kElementFits = sizeof(Real) * (rt::kSize + rt::kPlaneSize) <= 48 * 1024;

// to = d from, for a line whose values are kStep apart.
template <int kStep> __device__ __forceinline__ void contract_line(Real* to, const Real* from, const Real* d) {
  Real line[N];
#pragma unroll
  for (int l = 0; l < N; l++) line[l] = from[l * kStep];
#pragma unroll 1
  for (int r = 0; r < N; r++) {
    Real sum = 0;
#pragma unroll
    for (int l = 0; l < N; l++) sum = rt::multiply_add(d[r * N + l], line[l], sum);
    to[r * kStep] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long) {
  __shared__ Real u_copy[kElementFits ? rt::kSize : 1], d_copy[rt::kPlaneSize];
  const long long at = (long long)blockIdx.x * rt::kSize;
  const Real* element = u + at;
  for (int t = threadIdx.x; t < rt::kPlaneSize; t += blockDim.x) d_copy[t] = d[t];
  if constexpr (kElementFits) {
    for (int t = threadIdx.x; t < rt::kSize; t += blockDim.x) u_copy[t] = element[t];
    element = u_copy;
  }
  __syncthreads();
  for (int t = threadIdx.x; t < rt::kPlaneSize; t += blockDim.x) {
    const int x = t, y = t / N * rt::kPlaneSize + t % N, z = t * N;  // first value of the line along each axis
    contract_line<rt::kPlaneSize>(gx + at + x, element + x, d_copy);
    contract_line<N>(gy + at + y, element + y, d_copy);
    contract_line<1>(gz + at + z, element + z, d_copy);
  }
}
