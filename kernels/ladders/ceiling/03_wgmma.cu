// title: wgmma
// idea: two warpgroups of a multiprocessor multiply 64 x 64 by 64 x 256 bfloat16 values out of shared memory, again and
//       again: the rate of Hopper's tensor cores
// block: 128
// grid: sm * 2
// needs: sm_90a
// source: own; an upper bound for all kernels that multiply bfloat16 on this GPU at its clock
#include "../matmul_bf16/wgmma.cuh"
#include "operands.cuh"

// `rounds` times four products of 64 x 256 x 16: 16384 * rounds FLOP per thread. out: as in 02_mma.cu.
extern "C" __global__ void __launch_bounds__(128, 2) ceiling(float* out, long long rounds) {
  __shared__ __align__(1024) unsigned a[64 * 32], b[256 * 32];  // rows of 64 values
  const unsigned mask = __float_as_uint(out[0]);
  for (int i = threadIdx.x; i < 64 * 32; i += 128) a[i] = two_values(i, mask);
  for (int i = threadIdx.x; i < 256 * 32; i += 128) b[i] = two_values(64 * 32 + i, mask);
  fence_async_proxy();
  __syncthreads();
  float sum[128] = {};
  for (long long round = 0; round < rounds; ++round) {
    fence_registers();
#pragma unroll
    for (int s = 0; s < 4; ++s)
      Wgmma<256, false, false>::run(sum, describe_tile(a + 8 * s), describe_tile(b + 8 * s), 1);
    commit_products();
    wait_products<1>();  // of the round before; this one continues
  }
  wait_products<0>();
  float total = 0.0f;
  for (int i = 0; i < 128; ++i) total += sum[i];
  if (total == 12345.678f) out[1] = total;  // hardly ever true, but unknown to the compiler
}
