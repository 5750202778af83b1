// title: as many copies as fit
// idea: up to 32 copies of the bins in 64 KiB, copy c for the lanes c, c + copies, ...: with 1,000 bins there
//       are 16, and no keys whatever cause more than two accesses to a bank
// block: 1024
// grid: ceil(bins / 24576) * max(1, min(2 * sm, ceil(n / 8192)))
// shared: 4 * min(24576, bins * max(1, min(32, 16384 // bins)))
// alignment: any
// needs: sm_75+
// source: Podlozhnyuk 2007, Histogram calculation in CUDA (bins of a thread, interleaved by bank)
#include "bins.cuh"

extern "C" __global__ void __launch_bounds__(1024, 2)
    histogram_bins(const rt::Key* keys, const rt::Key* edges, unsigned* counts, long long n, long long bins) {
  extern __shared__ unsigned shared[];
  rt::count_in_blocks<1024, 2, 32>(shared, rt::Keys(keys, n), rt::BinOf<rt::Key>(edges, bins), counts, bins);
}
