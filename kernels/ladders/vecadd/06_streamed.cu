// title: Streamed
// idea: one block per 16 KB of a vector: its threads process four 16-byte pieces, a block apart, and end; loads and
//       stores carry streaming hints, so that they do not displace cached data. 2% slower than the loop before it on an
//       H200: nothing here is in a cache that the hints could protect, and a block that ends early leaves its place empty
//       until the next one has begun
// block: 256
// grid: ceil(n / 4096)
// source: own; the hints are __ldcs and __stcs of the CUDA programming guide

constexpr int kThreads = 256, kPieces = 4;

__device__ float4 add(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }

extern "C" __global__ void __launch_bounds__(kThreads) vecadd(const float* a, const float* b, float* c, long long n) {
  const float4* a4 = reinterpret_cast<const float4*>(a);
  const float4* b4 = reinterpret_cast<const float4*>(b);
  float4* c4 = reinterpret_cast<float4*>(c);
  const long long quads = n / 4;
  const long long base = static_cast<long long>(blockIdx.x) * (kThreads * kPieces);
  const long long first = base + threadIdx.x;
  if (base + kThreads * kPieces <= quads) {
    float4 x[kPieces], y[kPieces];
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      x[piece] = __ldcs(a4 + first + piece * kThreads);
      y[piece] = __ldcs(b4 + first + piece * kThreads);
    }
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) __stcs(c4 + first + piece * kThreads, add(x[piece], y[piece]));
    return;
  }
  // The last block, element by element, because it ends within a piece.
  const long long end = base * 4 + kThreads * kPieces * 4;
  for (long long i = base * 4 + threadIdx.x; i < n && i < end; i += kThreads) c[i] = a[i] + b[i];
}
