// title: bins in shared memory
// idea: a block counts in its own bins and adds them to the result once; where all bins do not fit into the
//       96 KiB of a block, each block counts one slice of them, and the slices read the keys at the same time
// block: 1024
// grid: ceil(bins / 24576) * max(1, min(2 * sm, ceil(n / 8192)))
// shared: 4 * min(24576, bins)
// alignment: any
// source: own; slices as in sorting by digits
#include "bins.cuh"

extern "C" __global__ void __launch_bounds__(1024)
    histogram_bins(const rt::Key* keys, const rt::Key* edges, unsigned* counts, long long n, long long bins) {
  extern __shared__ unsigned shared[];
  rt::count_in_blocks<1024, 2>(shared, rt::Keys(keys, n), rt::BinOf<rt::Key>(edges, bins), counts, bins);
}
