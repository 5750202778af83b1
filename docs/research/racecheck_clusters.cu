// What compute-sanitizer's racecheck says of stores to the shared memory of another block of a cluster, where an
// asynchronous copy was before. All orders here are safe but the last one; 2025.3.1 reports hazards where what was
// copied was not read in between, also for CUDA's own functions.
//
//     nvcc -arch=sm_90a -o order docs/research/racecheck_clusters.cu
//     for order in 0 1 2 3; do compute-sanitizer --tool racecheck ./order $order; done
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

constexpr int kThreads = 128;

// Copied, waited for, and a barrier: another thread of the block writes. No hazard is reported.
__global__ void within_block(const float* in, float* out) {
  __shared__ float x[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(x + t, in + t, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[kThreads - 1 - t] = 1;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = x[t];
}

// The same, and the other block of the cluster writes after a barrier of both.
template <bool Read, bool Wait> __global__ void __cluster_dims__(2, 1, 1) across_blocks(const float* in, float* out) {
  __shared__ float x[kThreads];
  const int t = threadIdx.x;
  const cg::cluster_group cluster = cg::this_cluster();
  __pipeline_memcpy_async(x + t, in + t, 4);
  __pipeline_commit();
  if (Wait) __pipeline_wait_prior(0);
  __syncthreads();
  const float v = Read ? x[kThreads - 1 - t] : 1;
  cluster.sync();
  cluster.map_shared_rank(x, 1 - cluster.block_rank())[t] = v;
  cluster.sync();
  out[blockIdx.x * kThreads + t] = x[t];
}

int main(int count, char** words) {
  float *in, *out;
  cudaMalloc(&in, kThreads * 4);
  cudaMalloc(&out, 8 * kThreads * 4);
  cudaMemset(in, 0, kThreads * 4);
  switch (count > 1 ? atoi(words[1]) : 0) {
    case 0:
      within_block<<<8, kThreads>>>(in, out);
      break;
    case 1:
      across_blocks<true, true><<<8, kThreads>>>(in, out);
      break;   // read before: none is reported
    case 2:
      across_blocks<false, true><<<8, kThreads>>>(in, out);
      break;  // not read: one is reported
    case 3:
      across_blocks<false, false><<<8, kThreads>>>(in, out);
      break;  // a hazard: not waited for
  }
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
