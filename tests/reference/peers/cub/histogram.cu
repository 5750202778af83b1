// CUB's DeviceHistogram of bytes in 256 bins. Usage: histogram BYTES [SEED]: reads lines "KIND SECONDS" and prints the
// seconds of each launch, cold: the input is one of as many copies as exceed the cache of the device. KIND "uniform",
// "constant" or "normal" is the distribution. A line "counts KIND" prints the 256 counts.
#include "../cuda_program.h"

#include <cub/device/device_histogram.cuh>

#include <algorithm>
#include <random>

namespace {
constexpr int kBins = 256;

std::vector<uint8_t> make(const std::string& kind, size_t count, uint32_t seed) {
  std::vector<uint8_t> bytes(count, 42);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(110.0f, 25.0f);
  std::vector<uint8_t> pattern((1 << 20) + 7);  // a prime beside powers of two: copies are not aligned alike
  if (kind == "uniform")
    for (auto& value : pattern) value = static_cast<uint8_t>(random());
  else if (kind == "normal")
    for (auto& value : pattern) value = static_cast<uint8_t>(std::clamp(normal(random), 0.0f, 255.0f));
  else if (kind == "constant")
    return bytes;
  else
    fail("there is no kind " + kind);
  for (size_t i = 0; i < count; ++i) bytes[i] = pattern[i % pattern.size()];
  return bytes;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("the program takes the number of bytes");
  const auto count = static_cast<size_t>(std::strtoull(argv[1], nullptr, 10));
  const auto seed = static_cast<uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  const size_t copies = 2 + 2 * static_cast<size_t>(properties.l2CacheSize) / std::max<size_t>(count, 1);
  std::vector<uint8_t*> inputs(copies);
  for (auto& input : inputs) input = allocate<uint8_t>(count);
  int* const bins = allocate<int>(kBins);
  size_t bytes = 0, next = 0;
  auto run = [&](void* scratch) {
    CHECK(cub::DeviceHistogram::HistogramEven(scratch, bytes, inputs[next++ % copies], bins, kBins + 1, 0, kBins,
                                              static_cast<int64_t>(count)));
  };
  run(nullptr);
  void* const scratch = allocate<char>(bytes);
  Stopwatch stopwatch;
  std::printf("CUB %d.%d.%d\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
  std::fflush(stdout);
  std::string loaded;
  for (std::string first, second; std::cin >> first >> second;) {
    const bool counts = first == "counts";
    const std::string& kind = counts ? second : first;
    if (kind != loaded) {
      const std::vector<uint8_t> values = make(loaded = kind, count, seed);
      for (auto* input : inputs) CHECK(cudaMemcpy(input, values.data(), count, cudaMemcpyHostToDevice));
    }
    run(scratch);  // not timed
    if (counts) {
      for (int value : download(bins, kBins)) std::printf("%d ", value);
    } else {
      const double enough = std::stod(second);
      for (double sum = 0.0; sum == 0.0 || sum < enough;) {
        const double seconds = stopwatch.time([&] { run(scratch); });
        std::printf("%.9g ", seconds);
        sum += seconds;
      }
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
