// title: operator by columns
// idea: the same with the operator staged transposed, so that neighbouring k read neighbouring words, which are in different
//       banks
// block: 256
// grid: elements
// source: CUDA C++ Best Practices Guide, memory banks
#include "contraction.cuh"

using rt::Real;

// In the shared memory of a block without opting in to more. Only n = 20 in float64 is larger; its elements are
// read from global memory, through the first-level cache.
constexpr bool kElementFits = sizeof(Real) * (rt::kSize + rt::kPlaneSize) <= 48 * 1024;

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  constexpr int N = rt::kN;
  __shared__ Real u_copy[kElementFits ? rt::kSize : 1], columns[rt::kPlaneSize];
  for (int t = threadIdx.x; t < rt::kPlaneSize; t += 256) columns[t % N * N + t / N] = d[t];
  for (long long e = blockIdx.x; e < elements; e += gridDim.x) {
    const Real* element = u + e * rt::kSize;
    if constexpr (kElementFits) {
      for (int t = threadIdx.x; t < rt::kSize; t += 256) u_copy[t] = element[t];
      element = u_copy;
    }
    __syncthreads();
    for (int t = threadIdx.x; t < rt::kSize; t += 256) {
      int k = t % N, j = t / N % N, i = t / rt::kPlaneSize;
      Real x = 0, y = 0, z = 0;
#pragma unroll
      for (int l = 0; l < N; l++) {
        x = rt::multiply_add(columns[l * N + i], element[(l * N + j) * N + k], x);
        y = rt::multiply_add(columns[l * N + j], element[(i * N + l) * N + k], y);
        z = rt::multiply_add(columns[l * N + k], element[(i * N + j) * N + l], z);
      }
      gx[e * rt::kSize + t] = x;
      gy[e * rt::kSize + t] = y;
      gz[e * rt::kSize + t] = z;
    }
    __syncthreads();  // all have read this element before it is overwritten
  }
}
