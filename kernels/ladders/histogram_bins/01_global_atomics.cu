// title: global atomics
// idea: every key adds one to its bin in global memory; the second-level cache does the additions
// block: 256
// grid: max(1, min(16 * sm, ceil(n / 1024)))
// alignment: any
// source: CUDA C++ Programming Guide, atomic functions
#include "bins.cuh"

extern "C" __global__ void __launch_bounds__(256)
    histogram_bins(const rt::Key* keys, const rt::Key* edges, unsigned* counts, long long n, long long bins) {
  rt::count_globally<256>(rt::Keys(keys, n), rt::BinOf<rt::Key>(edges, bins), counts, bins);
}
