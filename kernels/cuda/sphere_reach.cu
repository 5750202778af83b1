// title: How far spheres reach
// idea: a thread has every n-th sphere, with a maximum for each direction in registers; each block leaves one row, which
//       the host joins, so that there are no atomics and results do not depend on their order
// block: 256
// grid: max(1, min(ceil(n / 256), 4 * sm))
// flags: --fmad=false
// source: own
#include "../core/layout.h"
#include "../geom/sphere_reach.h"

RT_LAYOUT_TABLE

namespace {

constexpr int kDirections = sizeof(rt::SphereReach::reached) / sizeof(double), kThreads = 256;
constexpr double kNone = -1.7976931348623157e308;  // of no sphere: the lowest number

struct Most {
  RT_DEVICE static double join(double a, double b) { return a > b ? a : b; }
};
struct Sum {
  RT_DEVICE static double join(double a, double b) { return a + b; }
};

// The numbers of all threads joined, for each of them; the block is a power of two.
template <class Join> RT_DEVICE double over_block(double value, double* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = Join::join(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const double all = shared[0];
  __syncthreads();
  return all;
}

}  // namespace

// Counts and numbers of spheres are exact as double: they are below 2^53.
extern "C" __global__ void __launch_bounds__(kThreads) sphere_reach(const __grid_constant__ rt::ReachArgs args) {
  __shared__ double shared[kThreads];
  const float4* records = (const float4*)args.records;
  const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t k = first; k < args.row_count; k += step)
    ((float4*)args.picked)[k] = records[((const int64_t*)args.rows)[k]];
  double most[kDirections], distance = kNone;
  int64_t far = 0, farthest = 0;
#pragma unroll
  for (int n = 0; n < kDirections; ++n) most[n] = kNone;
  const bool is_limited = args.limit <= -kNone;  // not infinite
  const int64_t count = args.normal_count ? args.count : 0;
  for (int64_t row = first; row < count; row += step) {
    const float4 r = records[row];
    const double x = r.x, y = r.y, z = r.z, radius = r.w;
    if (is_limited) {
      const double d = rt::distance_to(args.center, x, y, z, radius);
      if (d > distance) distance = d, farthest = row;
      if (d > args.limit) {
        ++far;
        continue;
      }
    }
#pragma unroll
    for (int n = 0; n < kDirections; ++n)
      if (n < args.normal_count) most[n] = Most::join(rt::reach_along(args.normals + 3 * n, x, y, z, radius), most[n]);
  }
  rt::SphereReach all = {};
#pragma unroll
  for (int n = 0; n < kDirections; ++n) all.reached[n] = over_block<Most>(most[n], shared);
  all.distance = over_block<Most>(distance, shared);
  all.farthest = (int64_t)-over_block<Most>(distance == all.distance ? -(double)farthest : kNone, shared);
  all.far = (int64_t)over_block<Sum>((double)far, shared);
  if (threadIdx.x == 0) ((rt::SphereReach*)args.parts)[blockIdx.x] = all;
}
