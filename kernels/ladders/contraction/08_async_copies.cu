// title: prefetched elements
// idea: as many warps as fit iterate over all elements; the operator stays in registers, and
//       asynchronous copies load the next element while this one is computed
// block: 128
// grid: min(4 * sm, ceil(elements * n * n * n / 2048))
// needs: sm_75+
// source: CUDA C++ Programming Guide, asynchronous data copies
#include "teams.cuh"

using rt::Real;
using Team = rt::Teams<128, true, 2>;

extern "C" __global__ void __launch_bounds__(128, rt::kBlocksOf128)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  __shared__ rt::Pack shared[Team::kShared];
  rt::gradient_ahead<Team>(shared, u, d, gx, gy, gz, elements);
}
