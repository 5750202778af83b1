// Refitting: new boxes of a tree whose primitives moved. Which of them are in which slot stays as it was built, so
// that a tree gets worse as they move.
#pragma once
#include "../threads.h"
#include "bounds.h"

namespace rt {

// How the nodes of a tree are divided among threads, and what refits know of them, for as long as the tree is not built
// anew.
struct RefitPlan {
  std::vector<uint32_t> subtrees;  // roots of what one thread refits
  std::vector<uint32_t> top;       // the nodes above them, children before their parents
  // of all nodes
  std::vector<Box> boxes;           // as they were refitted last
  std::vector<int32_t> primitives;  // below each
  std::vector<float> first_areas;   // weighed surfaces of the slots of each after the first refit; 0 before
  int64_t in_slots = 0;             // primitives in slots; of equal ones the builder puts one there
  int64_t weight = 0;               // sum of `primitives`
};

RefitPlan plan_refit(const std::vector<Node>& nodes);

// Takes the primitives in slots, records[k] = placed[order[k]], and fits the boxes of all nodes around them, quantised
// as the builder does: of primitives that did not move the nodes keep their bytes.
//
// Returns how much the tree has grown since the first refit of the plan: the surfaces of the boxes in a node by those
// that it had, mean over the nodes on the way to a primitive and over all primitives. A ray that ends among the
// primitives visits about as many nodes more. The surface area heuristic itself (relative to the root) would not do: a
// primitive far away from the others makes the root so large that nothing else counts. The result does not depend on
// the number of threads.
template <int kFloats>
double refit(std::vector<Node>& nodes, RefitPlan& plan, const Record<kFloats>* placed, const int32_t* order,
             Record<kFloats>* records, ThreadPool& pool);

}  // namespace rt
