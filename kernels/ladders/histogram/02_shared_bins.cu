// title: bins in shared memory
// idea: a block counts in its own 256 bins in shared memory and adds them to the result once
// block: 256
// grid: max(1, min(8 * sm, ceil(n / block)))
// alignment: any
// source: Podlozhnyuk 2007, Histogram calculation in CUDA (bins in shared memory)
#include "../../cuda/block_histogram.cuh"

extern "C" __global__ void __launch_bounds__(256) histogram(const unsigned char* keys, unsigned* bins, long long n) {
  __shared__ unsigned shared[rt::kBins];
  rt::BlockBins<1, 256> counts(shared);
  counts.clear();
  __syncthreads();
  long long stride = (long long)gridDim.x * 256;
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < n; i += stride) counts.count(keys[i]);
  __syncthreads();
  counts.add_to(bins);
}
