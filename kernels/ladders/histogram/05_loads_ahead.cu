// title: loads one iteration ahead
// idea: the loads of the next iteration are issued before the keys of this one are counted, so that
//       memory stays busy while the block counts and while it clears its bins
// block: 1024
// grid: max(1, min(2 * sm, ceil(n / 16384)))
// alignment: any
// needs: sm_75+
// source: software pipelining; CUDA C++ Best Practices Guide, hiding latency
#include "byte_keys.cuh"

extern "C" __global__ void __launch_bounds__(1024, 2)
    histogram(const unsigned char* keys, unsigned* bins, long long n) {
  __shared__ unsigned shared[rt::kBins * 32];
  rt::histogram_block_ahead<32, 1024, 2>(rt::ByteKeys(keys, n), shared, bins);
}
