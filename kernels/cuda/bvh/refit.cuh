// The boxes of a tree whose primitives have moved, from the leaves up: the tree stays as it is.
// Nodes have higher numbers than their parents, so blocks that take them from the last one on wait only for nodes that
// are under way.
#pragma once
#include "collapse.cuh"

namespace rt {

RT_DEVICE void publish_box(NodeBox* at, const Box3& b, uint32_t step, float first_cost) {
  float4* words = (float4*)at;
  words[0] = make_float4(b.lo.x, b.lo.y, b.lo.z, b.hi.x);
  __threadfence();
  words[1] = make_float4(b.hi.y, b.hi.z, __uint_as_float(step), first_cost);
}
// false if that refit has not written it yet
RT_DEVICE bool published_box(const NodeBox* at, uint32_t step, Box3& b) {
  const float4 high = load_fresh((const float4*)at + 1);
  if (__float_as_uint(high.z) != step) return false;
  __threadfence();
  const float4 low = load_fresh((const float4*)at);
  b = {vec3(low.x, low.y, low.z), vec3(low.w, high.x, high.y)};
  return true;
}

// The slot of this lane as the node has it, without its box. begin: of its primitives, counted from those of the node.
RT_DEVICE NodeSlot load_slot(const Node* node, uint32_t& begin) {
  const uint32_t* words = (const uint32_t*)node;
  const uint32_t lane = slot_lane();
  const auto end_of = [words](uint32_t slot) { return words[6 + (slot >> 2)] >> 8 * (slot & 3u) & 255u; };
  NodeSlot s = {};
  s.is_inner = words[3] >> (24 + lane) & 1u;
  s.child_base = words[4], s.sphere_base = words[5], s.end = end_of(lane);
  begin = lane ? end_of(lane - 1) : 0u;
  s.is_used = s.is_inner || begin < s.end;
  return s;
}

// Moves the primitives [begin, end) in leaf order, and returns the box around them.
RT_DEVICE Box3 move_primitives(const Build& b, uint32_t begin, uint32_t end) {
  Box3 box = {vec3(kInfinity, kInfinity, kInfinity), vec3(-kInfinity, -kInfinity, -kInfinity)};
  for (uint32_t place = begin; place < end; ++place) {
    const PrimitiveRecord r = load_record(b.records + b.order[place]);
    b.spheres[place] = r;
    box = join(box, box_of(r));
  }
  return box;
}

// The nodes of a warp; a node may wait for another of the same warp.
RT_DEVICE void refit_warp(const Build& b, uint32_t index, bool exists, uint32_t step) {
  const uint32_t lane = slot_lane();
  uint32_t begin = 0;
  NodeSlot s = {};
  if (exists) s = load_slot(b.nodes + (size_t)index, begin);
  s.box = move_primitives(b, s.sphere_base + begin, s.sphere_base + s.end);
  const uint32_t inner = slot_ballot(s.is_inner);
  const float first = exists ? b.boxes[index].first_cost : 0.0f;
  const NodeBox* child = b.boxes + s.child_base + __popc(inner & ((1u << lane) - 1u));
  bool is_there = !s.is_inner, is_written = !exists;
  Box3 all = {};
  while (!__all_sync(~0u, is_written)) {
    if (!is_there) is_there = published_box(child, step, s.box);
    const bool complete = slot_ballot(is_there) == 255u;
    const Box3 joined = slot_join(s.box);
    if (complete && !is_written) {
      all = joined;
      if (lane == 0) publish_box(b.boxes + index, all, step, first);
      is_written = true;
    }
  }
  write_node(b.nodes + (size_t)index, s, all, exists);
  add_growth(b, step, slots_cost(s, begin), first, exists);
}

struct RefitShared {
  uint32_t step, tile;
};

// Refits are numbered on the device, so that a launch in a graph is another refit each time. The block that takes the
// last ticket, after all nodes, leaves the state as the next refit needs it. Of a tree that is too deep nothing is here.
RT_DEVICE void refit_nodes(const Build& b, RefitShared& shared) {
  TreeResult& result = b.state->result;
  const uint32_t count = result.too_deep ? 0 : result.node_count, tiles = (count + kTileNodes - 1) / kTileNodes;
  if (threadIdx.x == 0) shared.step = result.refits + 1;
  for (;;) {
    if (threadIdx.x == 0) shared.tile = atomicAdd(&b.state->refit_ticket, 1u);
    __syncthreads();
    const uint32_t tile = shared.tile, step = shared.step;
    __syncthreads();
    if (tile >= tiles) {
      if (tile == tiles + gridDim.x - 1 && threadIdx.x == 0)
        result.refits = step, result.growth[~step & 1u] = 0, b.state->refit_ticket = 0;
      return;
    }
    const uint32_t from_last = tile * kTileNodes + threadIdx.x / kSlots;
    refit_warp(b, count - 1 - from_last, from_last < count, step);
  }
}

}  // namespace rt
