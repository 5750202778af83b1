// title: loop unrolled
// idea: the same with an unrolled loop: no branch, no counter, and one address for many loads
// block: 256
// grid: ceil(elements * n * n * n / block)
// source: CUDA C++ Best Practices Guide, loop unrolling
#include "contraction.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  constexpr int N = rt::kN;
  long long index = (long long)blockIdx.x * 256 + threadIdx.x;
  if (index >= elements * rt::kSize) return;
  int point = (int)(index % rt::kSize);
  int k = point % N, j = point / N % N, i = point / rt::kPlaneSize;
  const Real* element = u + (index - point);
  Real x = 0, y = 0, z = 0;
#pragma unroll
  for (int l = 0; l < N; l++) {
    x = rt::multiply_add(d[i * N + l], element[(l * N + j) * N + k], x);
    y = rt::multiply_add(d[j * N + l], element[(i * N + l) * N + k], y);
    z = rt::multiply_add(d[k * N + l], element[(i * N + j) * N + l], z);
  }
  gx[index] = x;
  gy[index] = y;
  gz[index] = z;
}
