// title: register tiles, one element per warp
// idea: a thread keeps rows of the operator in registers, four for n = 8, and uses each loaded value for all of them;
//       a warp stages and computes its own element and does not wait for the rest of the block
// block: 128
// grid: ceil(elements * n * n * n / 2048)
// needs: sm_75+
// source: Świrydowicz et al. 2019, Acceleration of tensor-product operations; Abdelfattah et al. 2021, GPU algorithms for efficient exascale discretizations
#include "teams.cuh"

using rt::Real;
using Team = rt::Teams<128, true, 1>;

extern "C" __global__ void __launch_bounds__(128, rt::kBlocksOf128)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  __shared__ rt::Pack shared[Team::kShared];
  rt::gradient_in_turn<Team>(shared, u, d, gx, gy, gz, elements);
}
