// Even bins by CUB.
#pragma once
#include <cub/device/device_histogram.cuh>
#include <cub/version.cuh>

#include "peer.h"

std::string version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

// Of keys (n,) into counts (bins,), the last array. n: the first size.
template <class Key, class Edge> struct EvenBins : Peer {
  int bins;
  Edge lower, upper;
  size_t bytes = 0;
  std::unique_ptr<Scratch> scratch;

  EvenBins(const Call& call, int number, Edge first, Edge last) : bins(number), lower(first), upper(last) {
    count(call, nullptr);  // sets `bytes`
    scratch = std::make_unique<Scratch>(bytes);
  }
  void launch(const Call& call) override { count(call, scratch->get()); }

  void count(const Call& call, void* memory) {
    check(cub::DeviceHistogram::HistogramEven(memory, bytes, call.array<const Key>(0), counts(call), bins + 1, lower,
                                              upper, call.sizes[0], call.stream));
  }
  virtual unsigned* counts(const Call& call) const { return call.array<unsigned>(1); }
};
