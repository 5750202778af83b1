// title: as many copies as fit
// idea: up to 32 copies of the bins in 64 KiB, copy c for the lanes c, c + copies, ...: with 1,000 bins there are 16, and no
//       keys whatever cause more than two accesses to a bank. Slower than one copy on an H200 for normal keys in 1,000 bins
//       (0.88): they rarely meet in a bin, and each block clears and adds up 16 times as many counters
// block: 1024
// grid: ceil(bins / 24576) * max(1, min(2 * sm, ceil(n / 8192)))
// shared: 4 * min(24576, bins * max(1, min(32, 16384 // bins)))
// alignment: any
// source: Podlozhnyuk 2007, Histogram calculation in CUDA (bins of a thread, interleaved by bank)
#include "bins.cuh"

constexpr int kThreads = 1024, kMaxCopies = 32;
constexpr int kCopiedBins = 16384;  // counters of all copies: 64 KiB

extern "C" __global__ void __launch_bounds__(1024, 2)
    histogram_bins(const rt::Key* keys, const rt::Key* edges, unsigned* counts, long long n, long long bins) {
  extern __shared__ unsigned shared[];
  const rt::Keys of_block(keys, n);
  const rt::BinOf<rt::Key> bin_of(edges, bins);
  const unsigned slices = (unsigned)((bins + rt::kSliceBins - 1) / rt::kSliceBins);
  if (slices > rt::kMaxSlices) return rt::count_globally<kThreads>(of_block, bin_of, counts, bins);
  const unsigned begin = blockIdx.x % slices * rt::kSliceBins;
  const unsigned size = (unsigned)min((long long)rt::kSliceBins, bins - begin);
  // the largest power of two of copies that fits
  const unsigned shift = 31 - __clz(max(1, min(kMaxCopies, kCopiedBins / (int)size)));
  const unsigned copies = 1u << shift;
  for (unsigned i = threadIdx.x; i < size << shift; i += kThreads) shared[i] = 0;
  __syncthreads();
  unsigned* own = shared + threadIdx.x % copies;
  rt::for_keys<kThreads, 2>(of_block, bin_of, blockIdx.x / slices, gridDim.x / slices, [&](unsigned bin) {
    bin -= begin;
    if (bin < size) atomicAdd(own + (bin << shift), 1u);
  });
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < size; bin += kThreads) {
    unsigned total = 0;
    for (unsigned k = 0; k < copies; k++) total += shared[(bin << shift) + (k + bin) % copies];  // other banks
    if (total != 0) atomicAdd(counts + begin + bin, total);
  }
}
