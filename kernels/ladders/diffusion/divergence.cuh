// The transposed gradient of three numbers a point, for the chain and the fused operator.
#pragma once
#include "../contraction/fused.cuh"

namespace rt {

// v = D_x^T x + D_y^T y + D_z^T z: x in registers of the thread of a line, y in share, z in share + kBuffer.
RT_DEVICE void add_divergence(Real* share, const Values (&x)[kTurns], Real* v, long long elements) {
  Real* share_z = share + kBuffer;
  contract_shared<Axis::y, 4, true>(share, share, elements);
  contract_shared<Axis::z, 5, true>(share_z, share_z, elements);
  __syncthreads();
  for_lines(elements, [&](const Line& line) {
    Values out;
    apply<3, true>(out, x[line.turn]);
#pragma unroll
    for (int l = 0; l < kN; l++) {
      const int at = line.shared<Axis::x>() + l * kPlane;
      out[l] += share[at] + share_z[at];
    }
    write_line<kPlaneSize>(v + line.global<Axis::x>(), out);
  });
}

}  // namespace rt
