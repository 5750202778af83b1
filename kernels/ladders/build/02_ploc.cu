// title: PLOC
// idea: clusters along the curve look for the neighbour, at most eight places away, with which their common box is smallest;
//       two that choose each other are merged, and all rounds are like this until one is left. Surfaces decide, as in the
//       best trees; but each round reads and writes all that is left, and there are dozens
// block: 256
// grid: min(4 * sm, ceil(spheres / 256))
// flags: --fmad=false
// source: Meister, Bittner 2018 (Parallel Locally-Ordered Clustering for BVH Construction); Benthin et al. 2022 (a round
//         in one pass: neighbours, merges and the places of what is left)
#include "binary_tree.cuh"
#include "rounds.cuh"

namespace rt {

constexpr int kRadius = 8, kTile = 256;
constexpr int kWindow = kTile + 4 * kRadius;  // a tile, its neighbours, and theirs
constexpr uint32_t kPrimitive = 1u << 31;  // of a cluster that is one

// A round over the clusters that are left. Its word: first ticket << 33 | whether the second array is read << 32 | clusters
struct Round {
  uint32_t first, tiles, tile, count;
  bool reads_second;
};
struct PlocRounds : Rounds {
  uint32_t survivors;  // of the round, when it is complete
};
static_assert(__builtin_offsetof(BuildState, level) % 8 == 0, "words of 64 bits");

RT_DEVICE Round describe_round(const Build& b, uint64_t word) {
  const uint32_t count = word ? (uint32_t)word : b.count;
  return {(uint32_t)(word >> 33), count > 1 ? (count + kTile - 1) / kTile : 0, 0, count, (word >> 32 & 1u) != 0};
}

struct PlocShared {
  Box3 box[kWindow];
  uint32_t ref[kWindow];
  int nearest[kWindow];
  uint64_t sums[kTile / 32], before;
  Round round;
};

RT_DEVICE void load_window(const Build& b, const Round& round, PlocShared& shared) {
  const uint32_t* in = round.reads_second ? b.order : b.values[0];
  for (int w = threadIdx.x; w < kWindow; w += kTile) {
    const long long place = (long long)round.tile * kTile - 2 * kRadius + w;
    uint32_t ref = kNone;
    if (place >= 0 && place < round.count) {
      ref = load_fresh(in + place) | (round.first == 0 ? kPrimitive : 0u);
      shared.box[w] = load_box(b, ref & ~kPrimitive, ref & kPrimitive);
    }
    shared.ref[w] = ref;
  }
}

// Of equal boxes that whose place differs in the lowest bits, which is the same from both sides: the smallest pair of all
// choose each other, and equal spheres are merged in pairs. With the first of equal ones, only the first two would be.
RT_DEVICE int find_nearest(const PlocShared& shared, int w, uint32_t begin) {
  int nearest = -1;
  float smallest = 0.0f;
  if (shared.ref[w] == kNone) return nearest;
  for (int other = w - kRadius; other <= w + kRadius; ++other) {
    if (other == w || shared.ref[other] == kNone) continue;
    const float area = half_area(join(shared.box[w], shared.box[other]));
    const auto differing = [&](int k) { return (begin + w) ^ (begin + k); };
    if (nearest < 0 || area < smallest || (area == smallest && differing(other) < differing(nearest)))
      smallest = area, nearest = other;
  }
  return nearest;
}

RT_DEVICE bool is_mutual(const PlocShared& shared, int w) {
  return shared.nearest[w] >= 0 && shared.nearest[shared.nearest[w]] == w;
}

// Writes what is left of a tile, behind what is left of those before it.
RT_DEVICE void merge_tile(const Build& b, const Round& round, PlocRounds* rounds, PlocShared& shared) {
  const int w = 2 * kRadius + threadIdx.x, partner = shared.nearest[w];
  const bool mutual = is_mutual(shared, w), merges = mutual && w < partner;
  const bool survives = shared.ref[w] != kNone && !(mutual && partner < w);
  // pairs whose second cluster is of this tile: their node is counted in the tile before, where the first one is
  const int outside = kRadius + threadIdx.x;
  const bool crosses = outside < 2 * kRadius && shared.nearest[outside] >= 2 * kRadius && is_mutual(shared, outside);
  uint64_t total;
  const uint64_t own = block_sum_before<kTile>((uint64_t)crosses << 32 | (uint64_t)merges << 16 | (uint64_t)survives,
                                               shared.sums, total);
  const uint64_t left = total & 0xffffu;
  if (threadIdx.x < 32) {
    const uint32_t tile = round.tile, tag = 2 * round.first + kSum;  // later rounds have greater ones
    if (threadIdx.x == 0) publish(b.status + tile, tagged<32>(tile ? tag : tag + 1, left));
    const uint64_t before = warp_sum_before<32>(b.status, tile, tag);
    if (threadIdx.x == 0) {
      if (tile) publish(b.status + tile, tagged<32>(tag + 1, before + left));
      if (tile == round.tiles - 1) rounds->survivors = (uint32_t)(before + left);
      shared.before = before;
    }
  }
  __syncthreads();
  const uint32_t before = (uint32_t)shared.before, place = before + (uint32_t)(own & 0xffffu);
  uint32_t ref = shared.ref[w];
  if (merges) {
    const uint32_t second = shared.ref[partner], crossing = (uint32_t)(total >> 32);
    // nodes of rounds before, of this one in tiles before, and in this tile
    const uint32_t node = b.count - round.count + (round.tile * kTile - before + crossing) + (own >> 16 & 0xffffu);
    write_children(b, node, ref & ~kPrimitive, second & ~kPrimitive,
                   (ref & kPrimitive ? kLeftIsPrimitive : 0u) | (second & kPrimitive ? kRightIsPrimitive : 0u));
    write_box(b, node, join(shared.box[w], shared.box[partner]));
    ref = node;
  }
  if (survives) (round.reads_second ? b.values[0] : b.order)[place] = ref;
}

}  // namespace rt

extern "C" __global__ void __launch_bounds__(rt::kTile) build(const __grid_constant__ rt::BuildArgs args) {
  __shared__ rt::PlocShared shared;
  const rt::Build b{args};
  rt::PlocRounds* rounds = (rt::PlocRounds*)b.state->level;
  if (blockIdx.x == 0 && threadIdx.x == 0)
    b.state->root = b.count == 1 ? b.values[0][0] : b.count - 2;  // the last node
  for (;;) {
    if (threadIdx.x == 0)
      shared.round = rt::take_tile(rounds, [&](uint64_t word) { return rt::describe_round(b, word); });
    __syncthreads();
    const rt::Round round = shared.round;
    if (round.tiles == 0) return;
    rt::load_window(b, round, shared);
    __syncthreads();
    for (int w = rt::kRadius + threadIdx.x; w < rt::kWindow - rt::kRadius; w += rt::kTile)
      shared.nearest[w] = rt::find_nearest(shared, w, round.tile * rt::kTile - 2 * rt::kRadius);
    __syncthreads();
    rt::merge_tile(b, round, rounds, shared);
    __syncthreads();
    if (threadIdx.x == 0)
      rt::complete_tile(rounds, round, [&] {
        const uint64_t end = round.first + round.tiles;
        return end << 33 | (uint64_t)!round.reads_second << 32 | rt::load_fresh(&rounds->survivors);
      });
  }
}
