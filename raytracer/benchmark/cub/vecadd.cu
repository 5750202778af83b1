// CUB's transformation of two vectors, for the bench to call beside our kernels.
#include <cub/device/device_transform.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>

extern "C" long long scratch_bytes(const long long*) { return 0; }

extern "C" int launch(void*, long long, void* const* arrays, const long long* sizes, void* stream) {
  const float* a = static_cast<const float*>(arrays[0]);
  const float* b = static_cast<const float*>(arrays[1]);
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), static_cast<float*>(arrays[2]), sizes[0],
                                         cuda::std::plus<float>{}, static_cast<cudaStream_t>(stream));
}
