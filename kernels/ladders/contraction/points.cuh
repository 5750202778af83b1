// Schedules in which a block stages one element in shared memory and a thread computes several points.
#pragma once
#include "contraction.cuh"

namespace rt {

constexpr bool kElementFits = sizeof(Real) * (kSize + kPlaneSize) <= kStaticShared;

// The element and the operator of a block, d by columns.
template <int kThreads>
struct Stage {
  Pack* u_copy;  // [kSize], shared; unused where the element does not fit
  Pack* d_copy;  // [kPlaneSize], shared

  RT_DEVICE Real* d() const { return (Real*)d_copy; }
  RT_DEVICE void load_operator(const Real* from) {
    for (int t = threadIdx.x; t < kPlaneSize; t += kThreads) d()[t % kN * kN + t / kN] = from[t];
  }
  // kTogether values of the element per thread; ends with a barrier. Returns where to read u.
  template <class Together>
  RT_DEVICE const Real* load_element(const Real* from) {
    constexpr int kCount = kSize * sizeof(Real) / sizeof(Together);
    if constexpr (kElementFits) {
      for (int t = threadIdx.x; t < kCount; t += kThreads) ((Together*)u_copy)[t] = ((const Together*)from)[t];
    }
    __syncthreads();
    return kElementFits ? (const Real*)u_copy : from;
  }
  // d[row][l]
  RT_DEVICE Real at(int row, int l) const { return d()[l * kN + row]; }
};

#define RT_STAGE_MEMORY                                                       \
  __shared__ rt::Pack u_copy[rt::kElementFits ? rt::kSize / rt::kWidth : 1]; \
  __shared__ rt::Pack d_copy[rt::kPlaneSize / rt::kWidth]

// One point at a time.
template <int kThreads>
RT_DEVICE void gradient_points(Stage<kThreads> stage, const Real* u, const Real* d, Real* gx, Real* gy, Real* gz,
                               long long elements) {
  stage.load_operator(d);
  for (long long e = blockIdx.x; e < elements; e += gridDim.x) {
    const Real* element = stage.template load_element<Real>(u + e * kSize);
    for (int t = threadIdx.x; t < kSize; t += kThreads) {
      int k = t % kN, j = t / kN % kN, i = t / kPlaneSize;
      Real x = 0, y = 0, z = 0;
#pragma unroll
      for (int l = 0; l < kN; l++) {
        x = multiply_add(stage.at(i, l), element[(l * kN + j) * kN + k], x);
        y = multiply_add(stage.at(j, l), element[(i * kN + l) * kN + k], y);
        z = multiply_add(stage.at(k, l), element[(i * kN + j) * kN + l], z);
      }
      gx[e * kSize + t] = x;
      gy[e * kSize + t] = y;
      gz[e * kSize + t] = z;
    }
    __syncthreads();  // all have read this element before it is overwritten
  }
}

// One pack of points along k at a time: one 16-byte load from shared memory serves four points.
template <int kThreads>
RT_DEVICE void gradient_packs(Stage<kThreads> stage, const Real* u, const Real* d, Real* gx, Real* gy, Real* gz,
                              long long elements) {
  stage.load_operator(d);
  for (long long e = blockIdx.x; e < elements; e += gridDim.x) {
    const Real* element = stage.template load_element<Pack>(u + e * kSize);
    for (int t = threadIdx.x; t < kSize / kWidth; t += kThreads) {
      int k = t % kWide * kWidth, j = t / kWide % kN, i = t / (kWide * kN);
      Pack x{}, y{}, z{};
#pragma unroll
      for (int l = 0; l < kN; l++) {
        Pack along_x = load_pack(element + (l * kN + j) * kN + k);
        Pack along_y = load_pack(element + (i * kN + l) * kN + k);
        Pack columns = load_pack(stage.d() + l * kN + k);
        Real along_z = element[(i * kN + j) * kN + l];
#pragma unroll
        for (int w = 0; w < kWidth; w++) {
          x.v[w] = multiply_add(stage.at(i, l), along_x.v[w], x.v[w]);
          y.v[w] = multiply_add(stage.at(j, l), along_y.v[w], y.v[w]);
          z.v[w] = multiply_add(columns.v[w], along_z, z.v[w]);
        }
      }
      long long out = e * kSize + t * kWidth;
      store_pack(gx + out, x);
      store_pack(gy + out, y);
      store_pack(gz + out, z);
    }
    __syncthreads();
  }
}

}  // namespace rt
