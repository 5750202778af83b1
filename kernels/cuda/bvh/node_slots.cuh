// Eight lanes make one node, a lane for each slot.
#pragma once
#include "../../bvh/cost.h"
#include "../../bvh/quantize.h"
#include "state.cuh"

namespace rt {

constexpr int kSlots = 8;
RT_DEVICE uint32_t slot_lane() { return threadIdx.x & (kSlots - 1); }

template <class T> RT_DEVICE T from_slot(T value, int slot) { return __shfl_sync(~0u, value, slot, kSlots); }
// bit i: what slot i says
RT_DEVICE uint32_t slot_ballot(bool says) { return __ballot_sync(~0u, says) >> (threadIdx.x & 24u) & 255u; }
// the bytes of four slots as a word, in all of the four lanes
RT_DEVICE uint32_t slot_word(uint32_t byte) {
  uint32_t word = byte << 8 * (threadIdx.x & 3u);
  word |= __shfl_xor_sync(~0u, word, 1);
  return word | __shfl_xor_sync(~0u, word, 2);
}
// sum over the slots up to this one
RT_DEVICE uint32_t slot_sum(uint32_t value) {
#pragma unroll
  for (int d = 1; d < kSlots; d *= 2) {
    const uint32_t other = __shfl_up_sync(~0u, value, d, kSlots);
    if (slot_lane() >= (uint32_t)d) value += other;
  }
  return value;
}
// the box around all slots
RT_DEVICE Box3 slot_join(Box3 b) {
#pragma unroll
  for (int d = 1; d < kSlots; d *= 2) {
    const Box3 other = {
        vec3(__shfl_xor_sync(~0u, b.lo.x, d), __shfl_xor_sync(~0u, b.lo.y, d), __shfl_xor_sync(~0u, b.lo.z, d)),
        vec3(__shfl_xor_sync(~0u, b.hi.x, d), __shfl_xor_sync(~0u, b.hi.y, d), __shfl_xor_sync(~0u, b.hi.z, d))};
    b = join(b, other);
  }
  return b;
}

// What the lane of a slot knows of its node. end: of its primitives, counted from those of the node.
struct NodeSlot {
  Box3 box;
  bool is_used, is_inner;
  uint32_t end, child_base, sphere_base;
};

// By all lanes of the warp; nothing is written where `writes` is false. all: the box of the node.
RT_DEVICE void write_node(Node* node, const NodeSlot& s, const Box3& all, bool writes) {
  uint32_t* words = (uint32_t*)node;
  const uint32_t lane = slot_lane(), half = lane >> 2;
  const bool first_of_four = writes && (lane & 3u) == 0;
  const uint32_t inner = slot_ballot(s.is_inner), ends = slot_word(s.end);
  uint32_t exponents = 0;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const auto side = [axis](const Vec3<float>& v) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; };
    const float origin = below(side(all.lo));
    const int exponent = grid_exponent(origin, above(side(all.hi)));
    exponents |= (uint32_t)exponent << 8 * axis;
    uint32_t lo = axis == 0 ? 255u : 0u, hi = 0;  // an empty slot is an inverted box
    if (s.is_used) {
      lo = quantize_down(below(side(s.box.lo)), origin, cell_of(exponent));
      hi = quantize_up(above(side(s.box.hi)), origin, cell_of(exponent));
    }
    const uint32_t los = slot_word(lo), his = slot_word(hi);
    if (first_of_four) words[8 + 4 * axis + half] = los, words[10 + 4 * axis + half] = his;
    if (writes && lane == 0) words[axis] = __float_as_uint(origin);
  }
  if (first_of_four) words[6 + half] = ends;
  if (writes && lane == 0) words[3] = exponents | inner << 24, words[4] = s.child_base, words[5] = s.sphere_base;
}

// What a ray that meets a node is expected to cost: the surfaces of its slots, those of leaves by their tests. `begin`: of
// the slot's primitives, counted as `end`. The same in all lanes of the node.
RT_DEVICE float slots_cost(const NodeSlot& s, uint32_t begin) {
  float cost = !s.is_used ? 0.0f : half_area(s.box) * (s.is_inner ? 1.0f : kTestCost * (float)(s.end - begin));
#pragma unroll
  for (int d = 1; d < kSlots; d *= 2) cost += __shfl_xor_sync(~0u, cost, d);
  return cost;
}

// Adds how many times as costly a node is as when it was built; by all lanes of the warp. A primitive that leaves the
// others ruins few nodes, and counts for few. Sums of integers do not depend on the order.
RT_DEVICE void add_growth(const Build& b, uint32_t step, float cost, float first, bool exists) {
  const bool counts = exists && slot_lane() == 0;
  const float growth = first > 0.0f ? fminf(cost / first, kMaxGrowth) : 1.0f;
  unsigned long long sum = counts ? (unsigned long long)(growth * 1048576.0f) : 0ull;
  sum += __shfl_xor_sync(~0u, sum, 8);
  sum += __shfl_xor_sync(~0u, sum, 16);
  if ((threadIdx.x & 31u) == 0 && sum) atomicAdd((unsigned long long*)b.state->result.growth + (step & 1u), sum);
}

}  // namespace rt
