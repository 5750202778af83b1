// Refitting: new boxes of a tree whose primitives moved. Which of them are in which slot stays as it was built, so
// that a tree gets worse as they move; `tree_cost` says how much.
#pragma once
#include "../threads.h"
#include "bounds.h"

namespace rt {

// How the nodes of a tree are divided among threads, for as long as the tree is not built anew.
struct RefitPlan {
  std::vector<uint32_t> subtrees;  // roots of what one thread refits
  std::vector<uint32_t> top;       // the nodes above them, children before their parents
  std::vector<Box> boxes;          // of all nodes, as refitted
  int64_t in_slots = 0;            // primitives in slots; of equal ones the builder puts one there
};

RefitPlan plan_refit(const Node* nodes, int64_t count);

// Takes the primitives in slots, records[k] = placed[order[k]], and fits the boxes of all nodes around them, quantised
// as the builder does: of primitives that did not move the nodes keep their bytes. Returns the cost of the tree: the
// expected number of node visits and, weighed, of primitive tests of a ray that meets the root, from the surfaces of
// the boxes (J. Goldsmith, J. Salmon, "Automatic Creation of Object Hierarchies for Ray Tracing", IEEE CG&A 7(5),
// 1987). It does not depend on the number of threads.
template <int kFloats>
double refit(Node* nodes, RefitPlan& plan, const Record<kFloats>* placed, const int32_t* order,
             Record<kFloats>* records, ThreadPool& pool);
extern template double refit(Node*, RefitPlan&, const Record<kSphereFloats>*, const int32_t*, Record<kSphereFloats>*,
                             ThreadPool&);
extern template double refit(Node*, RefitPlan&, const Record<kSolidFloats>*, const int32_t*, Record<kSolidFloats>*,
                             ThreadPool&);

}  // namespace rt
