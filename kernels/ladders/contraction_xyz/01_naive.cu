// title: naive
// idea: one thread per point reads a line of u and a row of the operator; caches serve repeated reads
// block: 256
// grid: ceil(elements * n * n * n / block)
// needs: sm_75+
// source: definition
#include "../contraction/contraction.cuh"

using rt::Real;

template <int axis> RT_DEVICE void contract_point(const Real* u, const Real* d, Real* v, long long elements) {
  constexpr int N = rt::kN;
  long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= elements * rt::kSize) return;
  const Real* element = u + index / rt::kSize * rt::kSize;
  int point = (int)(index % rt::kSize), k = point % N, j = point / N % N, i = point / rt::kPlaneSize;
  int row = axis == 0 ? i : axis == 1 ? j : k;
  Real sum = 0;
#pragma unroll
  for (int l = 0; l < N; l++) {
    int from = axis == 0 ? (l * N + j) * N + k : axis == 1 ? (i * N + l) * N + k : (i * N + j) * N + l;
    sum = rt::multiply_add(d[row * N + l], element[from], sum);
  }
  v[index] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
    contraction_x(const Real* u, const Real* d, Real* v, long long elements) {
  contract_point<0>(u, d, v, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    contraction_y(const Real* u, const Real* d, Real* v, long long elements) {
  contract_point<1>(u, d, v, elements);
}

extern "C" __global__ void __launch_bounds__(256)
    contraction_z(const Real* u, const Real* d, Real* v, long long elements) {
  contract_point<2>(u, d, v, elements);
}
