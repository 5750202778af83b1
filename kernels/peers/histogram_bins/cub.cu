// title: CUB DeviceHistogram
#include <type_traits>

#include "../even_bins.h"

// The host side defines RT_KEY, as for the kernels. Integers of 32 bits have edges of more.
using Edge = std::conditional_t<std::is_same_v<RT_KEY, float>, float, long long>;

// Arrays: keys, edges, counts. Sizes: n, bins.
struct Bins : EvenBins<RT_KEY, Edge> {
  using EvenBins::EvenBins;
  unsigned* counts(const Call& call) const override { return call.array<unsigned>(2); }
};

std::unique_ptr<Peer> prepare(const Call& call) {
  const int bins = static_cast<int>(call.sizes[1]);
  RT_KEY ends[2];
  for (int i = 0; i < 2; ++i)
    check(cudaMemcpyAsync(ends + i, call.array<RT_KEY>(1) + i * bins, sizeof(RT_KEY), cudaMemcpyDefault, call.stream));
  check(cudaStreamSynchronize(call.stream));
  return std::make_unique<Bins>(call, bins, static_cast<Edge>(ends[0]), static_cast<Edge>(ends[1]));
}
