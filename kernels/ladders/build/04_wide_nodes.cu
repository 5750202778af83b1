// title: eight-wide quantised nodes
// idea: the binary tree of 03 becomes the renderer's: from the root down, the child with the largest surface is opened until a
//       node has eight, whose boxes are bytes on a grid of the node, 80 bytes in all. A second pass for the build; for a ray a
//       node stands for three levels of the binary tree
// block: 256
// grid: ceil(spheres / 256)
// steps: 2
// flags: --fmad=false
// source: Ylitie, Karras, Laine 2017 (wide compressed nodes); Benthin et al. 2024
#include "../../cuda/bvh/cluster.cuh"
#include "../../cuda/bvh/collapse.cuh"
#include "rays.cuh"
#include "rounds.cuh"

namespace rt {

constexpr uint32_t kBlocks = 1024;  // of those that make nodes: more would wait for each other

// The nodes of a level, which is known when the one above is complete; its word is the depth.
struct NodeRound {
  uint32_t first, tiles, tile;
  int depth;
};
static_assert(__builtin_offsetof(BuildState, level_ticket) % 8 == 0, "words of 64 bits");

RT_DEVICE NodeRound describe_level(const Build& b, uint64_t depth) {
  const Level level = depth ? b.state->level[depth] : Level{0, 1, 0, 0};
  return {level.tile, (level.end - level.begin + kTileNodes - 1) / kTileNodes, 0, (int)depth};
}

}  // namespace rt

extern "C" __global__ void __launch_bounds__(rt::kClusterThreads) build(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::ClusterShared shared;
  rt::cluster_primitives(rt::Build{args}, shared);
}

extern "C" __global__ void __launch_bounds__(rt::kNodeThreads) build_2(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::NodeShared shared;
  __shared__ rt::NodeRound next;
  const rt::Build b{args};
  rt::Rounds* rounds = (rt::Rounds*)b.state->level_ticket;
  if (blockIdx.x >= rt::kBlocks) return;
  for (;;) {
    if (threadIdx.x == 0) {
      next = rt::take_tile(rounds, [&](uint64_t word) { return rt::describe_level(b, word); });
      if (next.depth == 0 && next.tile == 0) b.queue[0] = b.state->root, b.state->level[0] = {0, 1, 0, 0};
    }
    __syncthreads();
    const rt::NodeRound round = next;
    if (round.tiles == 0) return;
    rt::make_tile(b, round.depth, round.tile, round.tiles, shared);
    if (threadIdx.x == 0) rt::complete_tile(rounds, round, [&] { return (uint64_t)round.depth + 1; });
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(128)
    trace(const __grid_constant__ rt::BuildArgs args, const float4* rays, rt::RayHit* hits, long long count) {
  const rt::Build b{args};
  const rt::WideTree tree = {b.nodes, b.spheres};
  rt::trace_rays(rays, hits, count, [&](rt::Vec3<float> o, rt::Vec3<float> d) {
    rt::RayHit hit = {rt::kInfinity, rt::kNone};
    uint32_t place = rt::kNoPrim;
    tree.intersect_closest(o, d, rt::kNoPrim, hit.t, place, rt::AllHits{});
    if (place != rt::kNoPrim) hit.primitive = b.order[place];
    return hit;
  });
}
