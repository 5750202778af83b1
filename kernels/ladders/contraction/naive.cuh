// One thread per point, one axis: the definition.
#pragma once
#include "contraction.cuh"

namespace rt {

enum class Along { x, y, z };

template <Along axis> RT_DEVICE void contract_point(const Real* u, const Real* d, Real* v, long long elements) {
  long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= elements * kSize) return;
  const Real* element = u + index / kSize * kSize;
  int point = (int)(index % kSize), k = point % kN, j = point / kN % kN, i = point / kPlaneSize;
  int row = axis == Along::x ? i : axis == Along::y ? j : k;
  Real sum = 0;
#pragma unroll
  for (int l = 0; l < kN; l++) {
    int from = axis == Along::x   ? (l * kN + j) * kN + k
               : axis == Along::y ? (i * kN + l) * kN + k
                                  : (i * kN + j) * kN + l;
    sum = multiply_add(d[row * kN + l], element[from], sum);
  }
  v[index] = sum;
}

}  // namespace rt
