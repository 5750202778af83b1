// What the builders and refits of host and GPU assume of trees.
#pragma once
#include "../core/compat.h"

namespace rt {

constexpr uint32_t kLeafSize = 8;        // primitives of a slot, at most
constexpr float kTestCost = 0.25f;       // testing a primitive, relative to visiting a node
constexpr float kLeafSplitGain = 0.25f;  // weight of splitting a leaf, relative to splitting a node
constexpr float kMaxGrowth = 8.0f;       // of a node that counts: a primitive that leaves the others ruins few nodes
// Refits in which any tree grows by 1: one around primitives that move closer together becomes worse without growing.
constexpr int32_t kAgingRefits = 128;

}  // namespace rt
