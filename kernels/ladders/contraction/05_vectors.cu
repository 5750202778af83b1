// title: 16-byte loads and stores
// idea: a thread computes as many neighbouring points along k as fit into 16 bytes, and loads and
//       stores them together: a quarter of the instructions in float32, half in float64
// block: 128
// grid: elements
// needs: sm_75+
// source: CUDA C++ Best Practices Guide, memory throughput
#include "points.cuh"

using rt::Real;

extern "C" __global__ void __launch_bounds__(128)
    contraction(const Real* u, const Real* d, Real* gx, Real* gy, Real* gz, long long elements) {
  RT_STAGE_MEMORY;
  rt::gradient_packs(rt::Stage<128>{u_copy, d_copy}, u, d, gx, gy, gz, elements);
}
