// The binary tree to eight-wide nodes, level by level from the root: the child with the largest surface is opened until
// eight slots are used, as the builder of the host does it. The numbers of nodes and places of primitives are sums over
// the nodes before, so that they do not depend on which block is faster.
#pragma once
#include "look_back.cuh"
#include "node_slots.cuh"

namespace rt {

constexpr int kNodeThreads = 256, kTileNodes = kNodeThreads / kSlots;
constexpr int kNodeShift = 62, kPlaceBits = 32;  // a published sum: 30 bits of nodes, 32 of primitives

// A child of a node, a cluster or a primitive, and the children that take its place when it is opened. bits: the byte
// of the cluster; 1 of a primitive, 0 where there is none.
struct Child {
  uint32_t ref, bits, left, right;
  float area;
  RT_DEVICE uint32_t size() const { return bits & kMaxSize; }
  RT_DEVICE bool is_primitive() const { return bits == 1; }
};

RT_DEVICE Box3 box_of(const Cluster& c) { return {vec3(c.lo[0], c.lo[1], c.lo[2]), vec3(c.hi[0], c.hi[1], c.hi[2])}; }
RT_DEVICE Box3 box_of(const Build& b, uint32_t ref, bool is_primitive) {
  return is_primitive ? b.primitive_box_of(ref) : box_of(b.clusters[ref]);
}

RT_DEVICE Child load_child(const Build& b, uint32_t ref, bool is_primitive) {
  if (is_primitive) return {ref, 1, 0, 0, 0.0f};
  const Cluster c = b.clusters[ref];
  return {ref, b.sizes[ref], c.left, c.right, half_area(box_of(c))};
}

// The root of a tree of one primitive is that one.
RT_DEVICE bool is_primitive_root(const Build& b) { return b.count == 1; }

// Returns the child of this lane's slot, of size 0 where it is empty; by all lanes of the warp.
RT_DEVICE Child open_slots(const Build& b, uint32_t root, bool exists) {
  const uint32_t lane = slot_lane();
  Child c = {0, 0, 0, 0, 0.0f};
  if (exists && lane == 0) c = load_child(b, root, is_primitive_root(b));
#pragma unroll 1
  for (int count = 1; count < kSlots; ++count) {
    float largest = c.size() < 2 ? -1.0f : c.size() <= kLeafSize ? kLeafSplitGain * c.area : c.area;
    uint32_t pick = lane;
#pragma unroll
    for (int d = 1; d < kSlots; d *= 2) {
      const float gain = __shfl_xor_sync(~0u, largest, d);
      const uint32_t other = __shfl_xor_sync(~0u, pick, d);
      if (gain > largest || (gain == largest && other < pick)) largest = gain, pick = other;
    }
    const uint32_t left = from_slot(c.left, (int)pick), right = from_slot(c.right, (int)pick);
    const uint32_t bits = from_slot(c.bits, (int)pick);
    const Child before = {__shfl_up_sync(~0u, c.ref, 1), __shfl_up_sync(~0u, c.bits, 1), __shfl_up_sync(~0u, c.left, 1),
                          __shfl_up_sync(~0u, c.right, 1), __shfl_up_sync(~0u, c.area, 1)};
    if (largest < 0.0f) continue;
    if (lane > pick + 1) c = before;
    if (lane == pick) c = load_child(b, left, bits & kLeftIsPrimitive);
    if (lane == pick + 1) c = load_child(b, right, bits & kRightIsPrimitive);
  }
  return c;
}

// Puts the primitives of a leaf slot into leaf order from `place` on.
RT_DEVICE void place_primitives(const Build& b, const Child& child, uint32_t place) {
  // those that wait, the next one first, and whether they are primitives, from the lowest bit on; in registers
  uint32_t waiting[kLeafSize] = {child.ref}, kinds = child.is_primitive();
  for (uint32_t count = 1; count;) {
    const uint32_t ref = waiting[0];
    if (kinds & 1u) {
      b.spheres[place] = load_record(b.records + ref), b.order[place++] = ref;
#pragma unroll
      for (uint32_t i = 1; i < kLeafSize; ++i) waiting[i - 1] = waiting[i];
      kinds >>= 1, --count;
    } else {
#pragma unroll
      for (uint32_t i = kLeafSize - 1; i > 1; --i) waiting[i] = waiting[i - 1];
      waiting[0] = b.clusters[ref].left, waiting[1] = b.clusters[ref].right;
      kinds = kinds >> 1 << 2 | b.sizes[ref] / kLeftIsPrimitive, ++count;
    }
  }
}

struct NodeShared {
  uint64_t sums[kNodeThreads / 32], before;
  uint32_t tile;
};

// Nodes and primitives that the nodes of a level before this tile have; by the first warp. total: of this tile. The last
// tile begins the next level.
RT_DEVICE uint64_t sum_of_level(const Build& b, int depth, uint32_t tile, uint32_t tiles, uint64_t total) {
  const Level level = b.state->level[depth];
  uint64_t* status = b.status + level.tile;
  const bool first = (threadIdx.x & 31u) == 0;
  if (first) publish(status + tile, tagged<kNodeShift>(tile ? kSum : kPrefix, total));
  const uint64_t before = warp_sum_before<kNodeShift>(status, tile, kSum), all = before + total;
  if (first && tile) publish(status + tile, tagged<kNodeShift>(kPrefix, all));
  if (first && tile == tiles - 1) {
    b.state->level[depth + 1] = {level.end, level.end + (uint32_t)(all >> kPlaceBits),
                                 level.spheres + (uint32_t)(all & ((1ull << kPlaceBits) - 1)), level.tile + tiles};
    b.state->result.node_count = level.end;
  }
  return before;
}

// One tile of the nodes of a level, by a block.
RT_DEVICE void make_tile(const Build& b, int depth, uint32_t tile, uint32_t tiles, NodeShared& shared) {
  const Level level = b.state->level[depth];
  const uint32_t node = level.begin + tile * kTileNodes + threadIdx.x / kSlots;
  const bool exists = node < level.end;
  const uint32_t root = exists ? b.queue[node] : 0;
  const Child c = open_slots(b, root, exists);
  NodeSlot s;
  s.is_used = c.size() > 0, s.is_inner = c.size() > kLeafSize;
  const bool is_leaf = s.is_used && !s.is_inner;
  if (depth == kMaxLevels - 1 && s.is_inner) s.is_inner = false, b.state->result.too_deep = 1;  // and is not placed
  s.end = slot_sum(is_leaf ? c.size() : 0);
  const uint32_t inner = slot_ballot(s.is_inner), lane = slot_lane();
  const uint64_t own = lane == kSlots - 1 ? (uint64_t)__popc(inner) << kPlaceBits | s.end : 0;
  uint64_t total, before = block_sum_before<kNodeThreads>(own, shared.sums, total);
  if (threadIdx.x < 32) {
    const uint64_t sum = sum_of_level(b, depth, tile, tiles, total);
    if (threadIdx.x == 0) shared.before = sum;
  }
  __syncthreads();
  before = shared.before + from_slot(before, kSlots - 1);
  s.child_base = level.end + (uint32_t)(before >> kPlaceBits);
  s.sphere_base = level.spheres + (uint32_t)(before & ((1ull << kPlaceBits) - 1));
  if (s.is_inner) b.queue[s.child_base + __popc(inner & ((1u << lane) - 1u))] = c.ref;
  if (is_leaf) place_primitives(b, c, s.sphere_base + s.end - c.size());
  const Box3 all = exists ? box_of(b, root, is_primitive_root(b)) : Box3{};
  if (s.is_used) s.box = box_of(b, c.ref, c.is_primitive());
  __syncwarp();
  write_node(b.nodes + (size_t)node, s, all, exists);
  const float cost = slots_cost(s, is_leaf ? s.end - c.size() : s.end);
  if (b.boxes && exists && lane == 0) b.boxes[node].step = 0, b.boxes[node].first_cost = cost;
  __syncthreads();  // `shared` is used again
}

// The nodes of one level, by any number of blocks.
RT_DEVICE void make_level(const Build& b, int depth, NodeShared& shared) {
  const Level level = b.state->level[depth];
  const uint32_t tiles = (level.end - level.begin + kTileNodes - 1) / kTileNodes;
  for (;;) {
    if (threadIdx.x == 0) shared.tile = tiles ? atomicAdd(&b.state->level_ticket[depth], 1u) : 0;
    __syncthreads();
    const uint32_t tile = shared.tile;
    __syncthreads();
    if (tile >= tiles) return;
    make_tile(b, depth, tile, tiles, shared);
  }
}

}  // namespace rt
