// The peer of the film's histogram: CUB's DeviceHistogram over a transform iterator that reads a pixel and
// gives its bin, by the same function as ours. Built by nvcc into a library (benchmark/tones.py).
#include <cub/device/device_histogram.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "tone/measure.h"

namespace {

struct BinOfPixel {
  __host__ __device__ unsigned char operator()(const float4& p) const {
    return (unsigned char)rt::pixel_light(p.x, p.y, p.z, p.w).bin;
  }
};

}  // namespace

// With temporary == nullptr it says how many bytes it needs. Returns the CUDA error code.
extern "C" int film_histogram(void* temporary, size_t* bytes, const void* film, unsigned* bins, int pixels, void* stream) {
  auto keys = thrust::make_transform_iterator((const float4*)film, BinOfPixel());
  return (int)cub::DeviceHistogram::HistogramEven(temporary, *bytes, keys, bins, rt::kToneBins + 1, 0, rt::kToneBins, pixels,
                                                  (cudaStream_t)stream);
}
