// title: Any alignment
// idea: the same for arrays at any address (`--axis offset=1`): aligned 16-byte pieces where the arrays have the
//       same place in 16 bytes, else numbers one by one, so that a warp still reads adjacent bytes
// block: 1024
// grid: ceil(n / 4096)
// alignment: any
// source: own

constexpr int kThreads = 1024;

// 16-byte accesses after the numbers before the first aligned address; otherwise 4-byte accesses by neighbouring threads,
// four in flight each.
extern "C" __global__ void __launch_bounds__(kThreads) vecadd(const float* a, const float* b, float* c, long long n) {
  const unsigned long long place_a = (unsigned long long)a % 16, place_b = (unsigned long long)b % 16;
  const unsigned long long place_c = (unsigned long long)c % 16;
  const long long begin = static_cast<long long>(blockIdx.x) * kThreads * 4;
  if (place_a == place_c && place_b == place_c) {
    const int head = (int)((16 - place_c) % 16 / 4);  // numbers before the first aligned address
    if (blockIdx.x == 0 && (int)threadIdx.x < head && threadIdx.x < n) c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
    const long long first = head + begin + threadIdx.x * 4;
    if (first + 4 <= n) {
      const float4 x = *reinterpret_cast<const float4*>(a + first);
      const float4 y = *reinterpret_cast<const float4*>(b + first);
      *reinterpret_cast<float4*>(c + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
      return;
    }
    for (long long i = first; i < n; i++) c[i] = a[i] + b[i];
    return;
  }
  float x[4], y[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const long long i = begin + k * kThreads + threadIdx.x;
    x[k] = i < n ? a[i] : 0;
    y[k] = i < n ? b[i] : 0;
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const long long i = begin + k * kThreads + threadIdx.x;
    if (i < n) c[i] = x[k] + y[k];
  }
}
