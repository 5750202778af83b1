// title: Float sums
// idea: sums doubles as floats
// block: 256
// grid: ceil(elements * n * n * n / 256)
// source: own
// dtypes: float64

// Caught by: rounding.
#include "contraction.cuh"

using rt::Real;

extern "C" __global__ void contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  constexpr int N = rt::kN;
  const long long index = blockIdx.x * 256LL + threadIdx.x;
  if (index >= elements * rt::kSize) return;
  const int point = static_cast<int>(index % rt::kSize), k = point % N, j = point / N % N, i = point / rt::kPlaneSize;
  const Real* element = u + (index - point);
  float x = 0, y = 0, z = 0;
  for (int l = 0; l < N; l++) {
    x += static_cast<float>(d[i * N + l] * element[(l * N + j) * N + k]);
    y += static_cast<float>(d[j * N + l] * element[(i * N + l) * N + k]);
    z += static_cast<float>(d[k * N + l] * element[(i * N + j) * N + l]);
  }
  gx[index] = x;
  gy[index] = y;
  gz[index] = z;
}
