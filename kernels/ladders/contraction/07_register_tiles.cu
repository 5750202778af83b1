// title: register tiles, several elements per block
// idea: a thread keeps rows of the operator in registers, four for n = 8, and uses each loaded value
//       for all of them; a block has as many elements as its threads can process
// block: 256
// grid: ceil(elements * n * n * n / 4096)
// needs: sm_75+
// source: Świrydowicz et al. 2019, Acceleration of tensor-product operations for high-order finite element methods
#include "teams.cuh"

using rt::Real;
using Team = rt::Teams<256, false, 1>;

extern "C" __global__ void __launch_bounds__(256)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  __shared__ rt::Pack shared[Team::kShared];
  rt::gradient_in_turn<Team>(shared, u, d, gx, gy, gz, elements);
}
