// CUB's histogram of a film's luminance, for the bench to call beside our kernels: a transform iterator reads
// a pixel and gives its bin, by the same function as ours.
#include <cub/device/device_histogram.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "film/histogram.h"

struct BinOfPixel {
  __host__ __device__ unsigned char operator()(const float4& p) const {
    return static_cast<unsigned char>(rt::pixel_light(p.x, p.y, p.z, p.w).bin);
  }
};

static cudaError_t histogram(void* scratch, size_t& bytes, void* const* arrays, const long long* sizes,
                             cudaStream_t stream) {
  auto bins = thrust::make_transform_iterator(static_cast<const float4*>(arrays[0]), BinOfPixel());
  return cub::DeviceHistogram::HistogramEven(scratch, bytes, bins, static_cast<unsigned*>(arrays[1]), rt::kToneBins + 1,
                                             0, rt::kToneBins, static_cast<int>(sizes[0]), stream);
}

extern "C" long long scratch_bytes(const long long* sizes) {
  void* const none[2] = {};
  size_t bytes = 0;
  return histogram(nullptr, bytes, none, sizes, nullptr) == cudaSuccess ? static_cast<long long>(bytes) : -1;
}

extern "C" int launch(void* scratch, long long bytes, void* const* arrays, const long long* sizes, void* stream) {
  size_t room = static_cast<size_t>(bytes);
  return histogram(scratch, room, arrays, sizes, static_cast<cudaStream_t>(stream));
}
