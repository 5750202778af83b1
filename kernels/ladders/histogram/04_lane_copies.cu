// title: one copy of the bins per lane
// idea: 32 interleaved copies, so that lane c of every warp counts in memory bank c: no bank conflicts
//       for any keys, and all inputs take the same time
// block: 1024
// grid: max(1, min(2 * sm, ceil(n / 16384)))
// alignment: any
// source: Podlozhnyuk 2007, Histogram calculation in CUDA (bins of a thread, interleaved by bank)
#include "byte_keys.cuh"

extern "C" __global__ void __launch_bounds__(1024, 2)
    histogram(const unsigned char* keys, unsigned* bins, long long n) {
  __shared__ unsigned shared[rt::kBins * 32];
  rt::histogram_block<32, 1024, 2>(rt::ByteKeys(keys, n), shared, bins);
}
