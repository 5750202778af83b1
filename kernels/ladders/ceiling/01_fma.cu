// title: Fused multiply-adds
// idea: eight independent chains per thread without memory accesses: the rate of the FP32 units
// block: 256
// grid: sm * 8
// source: own; what a loop reaches (94% of the units of an H100 at its clock), so that a kernel may exceed it by some per cent

// 8 chains of `rounds` multiply-adds per thread: 16 * rounds FLOP.
extern "C" __global__ void __launch_bounds__(256) ceiling(float* out, long long rounds) {
  float chain[8];
  for (int i = 0; i < 8; ++i) chain[i] = static_cast<float>(threadIdx.x + i);
  // Values unknown to the compiler, which therefore folds nothing; they converge to about 2.
  const float factor = 0.5f + 1e-6f * static_cast<float>(blockIdx.x), offset = out[0] + 1.0f;
  for (long long round = 0; round < rounds; round += 16) {
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int i = 0; i < 8; ++i) chain[i] = fmaf(chain[i], factor, offset);
    }
  }
  float sum = 0.0f;
  for (int i = 0; i < 8; ++i) sum += chain[i];
  if (sum == 12345.678f) out[1] = sum;  // never true, but unknown to the compiler
}
