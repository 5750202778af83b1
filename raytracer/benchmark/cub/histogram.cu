// CUB's histogram of bytes, for the bench to call beside our kernels.
#include <cub/device/device_histogram.cuh>

static cudaError_t histogram(void* scratch, size_t& bytes, void* const* arrays, const long long* sizes,
                             cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(scratch, bytes, static_cast<const unsigned char*>(arrays[0]),
                                             static_cast<int*>(arrays[1]), 257, 0, 256, sizes[0], stream);
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
