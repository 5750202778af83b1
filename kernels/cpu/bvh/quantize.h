// Packing up to eight child boxes into one Node.
#pragma once
#include "bounds.h"

namespace rt {

// child i of `count`: its box, whether it is a node, and how many spheres its slot holds (0 for a node)
struct NodeChild {
  Box box;
  bool inner = false;
  int spheres = 0;
};

Node make_node(const NodeChild* children, int count, uint32_t child_base, uint32_t sphere_base);

}  // namespace rt
