#include "refit.h"

#include <algorithm>

#include "../../bvh/node.h"
#include "quantize.h"

namespace rt {
namespace {

constexpr int64_t kSubtree = 1 << 12;  // primitives of a subtree that one thread refits
constexpr double kTestCost = 0.25;     // testing a primitive, relative to visiting a node

template <int kFloats> struct Refit {
  using Record = rt::Record<kFloats>;
  Node* nodes;
  RefitPlan& plan;
  const Record* placed;
  const int32_t* order;
  Record* records;

  // Of one node, whose children are refitted; returns its part of the cost, times the area of the root.
  double node(uint32_t index) {
    const Node n = nodes[index];
    NodeChild slots[8];
    double cost = 0.0;
    uint32_t child = n.child_base;
    int count = 0;
    for (int i = 0; i < 8; ++i) {
      NodeChild& slot = slots[i];
      slot.inner = n.inner >> i & 1;
      if (slot.inner) {
        slot.box = plan.boxes[child++];
      } else {
        const uint32_t begin = leaf_begin(n, i), end = leaf_end(n, i);
        if (begin == end) break;
        slot.spheres = (int)(end - begin);
        for (uint32_t k = begin; k < end; ++k) {
          const Record r = placed[order[k]];
          records[k] = r;
          const PrimitiveBox<V4> box = box_of(r);
          slot.box.grow(box.neg_lo, box.hi);
        }
      }
      cost += (double)slot.box.half_area() * (slot.inner ? 1.0 : kTestCost * slot.spheres);
      ++count;
    }
    Box all;
    for (int i = 0; i < count; ++i) all.grow(slots[i].box);
    plan.boxes[index] = all;
    nodes[index] = make_node(slots, count, n.child_base, n.sphere_base);
    return cost;
  }

  double subtree(uint32_t index) {
    double cost = 0.0;
    const Node& n = nodes[index];
    const uint32_t first = n.child_base;
    for (uint32_t c = first, end = first + (uint32_t)__builtin_popcount(n.inner); c < end; ++c) cost += subtree(c);
    return cost + node(index);
  }
};

}  // namespace

RefitPlan plan_refit(const Node* nodes, int64_t count) {
  RefitPlan plan;
  if (!count) return plan;
  plan.boxes.resize((size_t)count);
  std::vector<int64_t> primitives((size_t)count);  // below each node; children follow their parents
  for (int64_t i = count; i-- > 0;) {
    int64_t all = nodes[i].leaf_end[7];
    for (int c = 0; c < __builtin_popcount(nodes[i].inner); ++c) all += primitives[nodes[i].child_base + (size_t)c];
    primitives[(size_t)i] = all;
  }
  plan.in_slots = primitives[0];
  std::vector<uint32_t> level{0}, next;
  for (; !level.empty(); level.swap(next), next.clear())
    for (uint32_t i : level) {
      if (primitives[i] <= kSubtree) {
        plan.subtrees.push_back(i);
        continue;
      }
      plan.top.push_back(i);
      for (int c = 0; c < __builtin_popcount(nodes[i].inner); ++c) next.push_back(nodes[i].child_base + (uint32_t)c);
    }
  std::reverse(plan.top.begin(), plan.top.end());
  return plan;
}

template <int kFloats>
double refit(Node* nodes, RefitPlan& plan, const Record<kFloats>* placed, const int32_t* order,
             Record<kFloats>* records, ThreadPool& pool) {
  if (plan.boxes.empty()) return 0.0;
  Refit<kFloats> work{nodes, plan, placed, order, records};
  std::vector<double> costs(plan.subtrees.size());
  pool.each((int64_t)costs.size(), [&](int64_t i, int) { costs[(size_t)i] = work.subtree(plan.subtrees[(size_t)i]); });
  double cost = 0.0;
  for (double each : costs) cost += each;
  for (uint32_t index : plan.top) cost += work.node(index);
  const double area = plan.boxes[0].half_area();
  return area > 0.0 ? 1.0 + cost / area : 1.0;
}

template double refit(Node*, RefitPlan&, const Record<kSphereFloats>*, const int32_t*, Record<kSphereFloats>*,
                      ThreadPool&);
template double refit(Node*, RefitPlan&, const Record<kSolidFloats>*, const int32_t*, Record<kSolidFloats>*,
                      ThreadPool&);

}  // namespace rt
