// title: mma.sync
// idea: 32 independent products of 16 x 8 x 16 bfloat16 values a warp, with operands in registers: the rate of the tensor
//       cores by the instruction of Ampere, Ada and GeForce Blackwell; Hopper reaches about 60% by it
// block: 256
// grid: sm
// needs: sm_80, sm_86, sm_87, sm_88, sm_89, sm_90a, sm_120+
// source: own; an upper bound for all kernels that multiply bfloat16 on this GPU at its clock. GPUs with tcgen05 (sm_100
//         to sm_110) are left out, since their tensor cores are faster by those instructions
#include "../matmul_bf16/mma.cuh"
#include "operands.cuh"

// `rounds` times 32 products per warp: 4096 * rounds FLOP per thread. out: 0, the mask of operands.cuh; 1, not written.
extern "C" __global__ void __launch_bounds__(256, 1) ceiling(float* out, long long rounds) {
  WarpTile::Fragments f;
  float sum[4][8][4] = {};
  const unsigned mask = __float_as_uint(out[0]);
  for (int i = 0; i < 16; ++i) f.a[i / 4][i % 4] = two_values(threadIdx.x * 32 + i, mask);
  for (int i = 0; i < 16; ++i) f.b[i] = two_values(threadIdx.x * 32 + 16 + i, mask);
  for (long long round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) multiply_add(sum[i][j], f.a[i], &f.b[2 * j]);
  }
  float total = 0.0f;
  for (int i = 0; i < 128; ++i) total += sum[i / 32][i / 4 % 8][i % 4];
  if (total == 12345.678f) out[1] = total;  // hardly ever true, but unknown to the compiler
}
