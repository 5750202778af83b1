#include "refit.h"

#include <algorithm>

#include "../../bvh/node.h"
#include "quantize.h"

namespace rt {
namespace {

constexpr int32_t kSubtree = 1 << 12;  // primitives of a subtree that one thread refits
constexpr uint32_t kAhead = 16;        // primitives for which memory is asked before they are needed

int inner_slots(const Node& n) { return __builtin_popcount(n.inner); }

template <int kFloats> struct Refit {
  using Record = rt::Record<kFloats>;
  std::vector<Node>& nodes;
  RefitPlan& plan;
  const Record* placed;
  const int32_t* order;
  Record* records;

  // Of one node, whose children are refitted; returns its growth times its primitives.
  double node(uint32_t index) {
    const Node n = nodes[index];
    NodeChild slots[8];
    Box all;
    float area = 0.0f;
    uint32_t child = n.child_base;
    int count = 0;
    for (; count < 8; ++count) {
      NodeChild& slot = slots[count];
      slot.inner = n.inner >> count & 1;
      if (slot.inner) {
        slot.box = plan.boxes[child++];
      } else {
        const uint32_t begin = leaf_begin(n, count), end = leaf_end(n, count);
        if (begin == end) break;
        slot.spheres = (int)(end - begin);
        for (uint32_t k = begin; k < end; ++k) {
          const PrimitiveBox<V4> p = box_of(records[k]);
          slot.box.grow(p.neg_lo, p.hi);
        }
      }
      area += slot.box.half_area() * (slot.inner ? 1.0f : kTestCost * (float)slot.spheres);
      all.grow(slot.box);
    }
    plan.boxes[index] = all;
    nodes[index] = make_node(slots, count, n.child_base, n.sphere_base);
    float& first = plan.first_areas[index];
    if (first == 0.0f) first = area;
    return std::min((double)area / (double)first, (double)kMaxGrowth) * plan.primitives[index];
  }

  // Primitives that are neighbours in a tree are anywhere in memory.
  void take(uint32_t begin, uint32_t end) {
    for (uint32_t k = begin; k < end; ++k) {
      if (k + kAhead < end) __builtin_prefetch(placed + order[k + kAhead]);
      records[k] = placed[order[k]];
    }
  }

  double subtree(uint32_t index) {
    double growth = 0.0;
    const Node& n = nodes[index];
    for (uint32_t c = n.child_base, end = c + (uint32_t)inner_slots(n); c < end; ++c) growth += subtree(c);
    return growth + node(index);
  }
};

}  // namespace

RefitPlan plan_refit(const std::vector<Node>& nodes) {
  RefitPlan plan;
  if (nodes.empty()) return plan;
  plan.boxes.resize(nodes.size());
  plan.primitives.resize(nodes.size());
  plan.first_areas.resize(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {  // children follow their parents
    const Node& n = nodes[i];
    int32_t all = n.leaf_end[7];
    for (int c = 0; c < inner_slots(n); ++c) all += plan.primitives[n.child_base + (size_t)c];
    plan.primitives[i] = all;
    plan.weight += all;
  }
  plan.in_slots = plan.primitives[0];
  std::vector<uint32_t> level{0}, next;
  for (; !level.empty(); level.swap(next), next.clear())
    for (uint32_t i : level) {
      const bool is_large = plan.primitives[i] > kSubtree;
      (is_large ? plan.top : plan.subtrees).push_back(i);
      if (!is_large) continue;
      for (int c = 0; c < inner_slots(nodes[i]); ++c) next.push_back(nodes[i].child_base + (uint32_t)c);
    }
  std::reverse(plan.top.begin(), plan.top.end());
  return plan;
}

template <int kFloats>
double refit(std::vector<Node>& nodes, RefitPlan& plan, const Record<kFloats>* placed, const int32_t* order,
             Record<kFloats>* records, ThreadPool& pool) {
  if (nodes.empty()) return 1.0;
  Refit<kFloats> work{nodes, plan, placed, order, records};
  std::vector<double> growths(plan.subtrees.size());
  pool.each((int64_t)growths.size(), [&](int64_t i, int) {
    const uint32_t root = plan.subtrees[(size_t)i], begin = nodes[root].sphere_base;
    work.take(begin, begin + (uint32_t)plan.primitives[root]);  // they are contiguous
    growths[(size_t)i] = work.subtree(root);
  });
  double growth = 0.0;
  for (double each : growths) growth += each;
  for (uint32_t index : plan.top) {
    const uint32_t begin = nodes[index].sphere_base;
    work.take(begin, begin + nodes[index].leaf_end[7]);
    growth += work.node(index);
  }
  return growth / (double)plan.weight;
}

template double refit(std::vector<Node>&, RefitPlan&, const Record<kSphereFloats>*, const int32_t*,
                      Record<kSphereFloats>*, ThreadPool&);
template double refit(std::vector<Node>&, RefitPlan&, const Record<kSolidFloats>*, const int32_t*,
                      Record<kSolidFloats>*, ThreadPool&);

}  // namespace rt
