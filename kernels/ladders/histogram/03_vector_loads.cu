// title: 16-byte loads
// idea: a thread loads sixteen keys at once and has two such loads in flight, issued one iteration ahead, so that
//       memory stays busy while the block counts and while it clears its bins. The remaining cost is conflicts of the
//       keys of a warp in the banks of shared memory
// block: 1024
// grid: max(1, min(2 * sm, ceil(n / 16384)))
// alignment: any
// source: CUDA C++ Best Practices Guide, memory throughput
#include "byte_keys.cuh"

extern "C" __global__ void __launch_bounds__(1024, 2)
    histogram(const unsigned char* keys, unsigned* bins, long long n) {
  __shared__ unsigned shared[rt::kBins];
  rt::histogram_block<1, 1024, 2>(rt::ByteKeys(keys, n), shared, bins);
}
