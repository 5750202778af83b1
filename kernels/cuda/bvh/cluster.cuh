// Primitives in the order of their keys to a binary tree. Each node of a radix tree over the keys hands two clusters on
// to its parent; where four meet, the pairs with the smallest common box are merged until two are left. So neighbours
// are merged across the borders of the radix tree too, and a large primitive rises past the small ones around it.
// The radix tree from below: Apetrei, "Fast and Simple Agglomerative LBVH Construction", CGVC 2014. Merging inside of
// it: Benthin, Meister, Barczak, Mehta, Chitalu, "H-PLOC: Hierarchical Parallel Locally-Ordered Clustering for Bounding
// Volume Hierarchy Construction", Proc. ACM CGIT 7(3), 2024, which hands 16 clusters on; with two a thread has them in
// registers, and trees of even densities are better (docs/kernels/experiments.md).
#pragma once
#include "state.cuh"

namespace rt {

constexpr int kHandedOn = 2;

// The clusters of a node, left to right. One of size 1 is a primitive, and `ref` its number.
struct Clusters {
  Box3 box[2 * kHandedOn];
  uint32_t ref[2 * kHandedOn], size[2 * kHandedOn];
  int count;
};

RT_DEVICE void load_cluster(const Build& b, Clusters& c, int i, uint32_t ref, bool is_primitive) {
  c.ref[i] = ref;
  if (is_primitive) {
    c.box[i] = b.primitive_box_of(ref), c.size[i] = 1;
  } else {
    const float4* p = (const float4*)(b.clusters + ref);
    const float4 low = load_fresh(p), high = load_fresh(p + 1);
    c.box[i] = {vec3(low.x, low.y, low.z), vec3(low.w, high.x, high.y)},
    c.size[i] = load_fresh(b.sizes + ref) & kMaxSize;
  }
}

// Puts the one or two clusters of a neighbour before or after those of this thread.
RT_DEVICE void add_neighbor(Clusters& c, Clusters& n, bool before) {
  const int own = c.count, added = n.count;
  c.count = own + added;
  if (before) {
#pragma unroll
    for (int i = 0; i < kHandedOn; ++i) n.box[2 + i] = c.box[i], n.ref[2 + i] = c.ref[i], n.size[2 + i] = c.size[i];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool late = i >= 1 && added == 1;  // one cluster fewer before them
      const int k = i < 3 ? i + 1 : 3;
      c.box[i] = late ? n.box[k] : n.box[i], c.ref[i] = late ? n.ref[k] : n.ref[i];
      c.size[i] = late ? n.size[k] : n.size[i];
    }
  } else {
#pragma unroll
    for (int i = 1; i < 4; ++i) {
      if (i < own) continue;
      const int k = i == own ? 0 : 1;
      c.box[i] = k ? n.box[1] : n.box[0], c.ref[i] = k ? n.ref[1] : n.ref[0], c.size[i] = k ? n.size[1] : n.size[0];
    }
  }
}

// Merges the pair with the smallest common box, of equal ones the first, to the cluster with number id.
RT_DEVICE void merge_pair(const Build& b, Clusters& c, uint32_t id) {
  float smallest = kInfinity * 1.1f;
  Box3 box = {};
  int first = 0, second = 1;
  uint32_t left = 0, right = 0, size = 0, kinds = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
#pragma unroll
    for (int j = i + 1; j < 4; ++j) {
      if (j >= c.count) continue;
      const Box3 both = join(c.box[i], c.box[j]);
      const float area = half_area(both);
      if (!(area < smallest)) continue;
      smallest = area, box = both, first = i, second = j;
      left = c.ref[i], right = c.ref[j], size = c.size[i] + c.size[j];
      kinds = (c.size[i] == 1 ? kLeftIsPrimitive : 0u) | (c.size[j] == 1 ? kRightIsPrimitive : 0u);
    }
  }
  size = min(size, kMaxSize);
  float4* at = (float4*)(b.clusters + id);
  at[0] = make_float4(box.lo.x, box.lo.y, box.lo.z, box.hi.x);
  at[1] = make_float4(box.hi.y, box.hi.z, __uint_as_float(left), __uint_as_float(right));
  b.sizes[id] = (uint8_t)(size | kinds);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i == first) c.box[i] = box, c.ref[i] = id, c.size[i] = size;
    const int k = i < 3 ? i + 1 : 3;
    if (i >= second) c.box[i] = c.box[k], c.ref[i] = c.ref[k], c.size[i] = c.size[k];
  }
  --c.count;
}

// How unlike the keys at i and i + 1 are: the more, the higher the node of the radix tree between them.
struct Unlike {
  uint64_t keys;
  uint32_t places;  // of equal keys
};
RT_DEVICE Unlike unlike(const Build& b, uint32_t i) { return {b.keys[0][i] ^ b.keys[0][i + 1], i ^ (i + 1)}; }
RT_DEVICE bool less(const Unlike& a, const Unlike& b) {
  return a.keys < b.keys || (a.keys == b.keys && a.places < b.places);
}

// A range of primitives, a node of the radix tree, with its clusters.
struct ClusterRange {
  uint32_t left, right;
  Clusters c;

  // whether its parent's other child follows it, and the place between the two
  RT_DEVICE bool goes_right(const Build& b) const {
    return left == 0 || (right != b.count - 1 && less(unlike(b, right), unlike(b, left - 1)));
  }
  RT_DEVICE bool is_all(const Build& b) const { return right - left + 1 == b.count; }
  // Becomes the parent; end: the far end of the other child. The merges below a node of s > 1 primitives are s - 2:
  // their numbers are those of its primitives but the last two, and what its children have left of them is free here.
  RT_DEVICE void join_neighbor(const Build& b, Clusters& neighbor, uint32_t end, bool is_right) {
    const uint32_t place = is_right ? right : left - 1;  // the last primitive of the left child
    add_neighbor(c, neighbor, !is_right);
    (is_right ? right : left) = end;
    if (place > left) merge_pair(b, c, place - 1);
    if (right > place + 1) merge_pair(b, c, place);
  }
};

constexpr int kClusterThreads = 256;

// What the threads of a block hand on to each other. An odd number of words, so that they use different banks.
struct HandedOn {
  Box3 box[kHandedOn];
  uint32_t ref[kHandedOn], size[kHandedOn], count;
};
struct ClusterShared {
  HandedOn handed[kClusterThreads];
  uint32_t meeting[kClusterThreads];  // at a place between two children: thread and far end of the first, or kNone
};

// Goes up as long as the other child is of the same block. Returns whether this thread goes on among the blocks.
RT_DEVICE bool cluster_in_block(const Build& b, ClusterRange& r, ClusterShared& shared) {
  const uint32_t begin = blockIdx.x * kClusterThreads, thread = threadIdx.x;
  uint32_t place = kNone, own = 0;
  shared.meeting[thread] = kNone;
  __syncthreads();
  bool climbs = r.left < b.count, waits = false;
  while (climbs && !r.is_all(b)) {
    const bool is_right = r.goes_right(b);
    place = (is_right ? r.right : r.left - 1) - begin;
    if (place >= kClusterThreads - 1) break;  // the other child is of another block
    HandedOn& h = shared.handed[thread];
#pragma unroll
    for (int i = 0; i < kHandedOn; ++i) h.box[i] = r.c.box[i], h.ref[i] = r.c.ref[i], h.size[i] = r.c.size[i];
    h.count = r.c.count;
    __threadfence_block();
    own = thread << 16 | ((is_right ? r.left : r.right) - begin);
    const uint32_t first = atomicExch(&shared.meeting[place], own);
    if (first == kNone) {
      climbs = false, waits = true;
      break;
    }
    __threadfence_block();
    const volatile HandedOn& other = shared.handed[first >> 16];
    Clusters n;
    n.count = other.count;
#pragma unroll
    for (int i = 0; i < kHandedOn; ++i) {
      n.box[i].lo.x = other.box[i].lo.x, n.box[i].lo.y = other.box[i].lo.y, n.box[i].lo.z = other.box[i].lo.z;
      n.box[i].hi.x = other.box[i].hi.x, n.box[i].hi.y = other.box[i].hi.y, n.box[i].hi.z = other.box[i].hi.z;
      n.ref[i] = other.ref[i], n.size[i] = other.size[i];
    }
    r.join_neighbor(b, n, begin + (first & 0xffffu), is_right);
  }
  __syncthreads();
  return climbs || (waits && shared.meeting[place] == own);  // nobody came: the other child reaches out of the block
}

// A thread begins with one primitive and goes up: at each node the first of two threads leaves its clusters and ends,
// the second goes on with the range of both. Which clusters of a range are primitives is left at the byte of its last
// primitive, whose number no cluster has yet; those of two primitives or one are.
RT_DEVICE void cluster_primitives(const Build& b, ClusterShared& shared) {
  uint32_t* refs = b.values[0];
  ClusterRange r;
  r.left = r.right = blockIdx.x * kClusterThreads + threadIdx.x;
  r.c.count = 1;
  if (r.left < b.count) load_cluster(b, r.c, 0, refs[r.left], true);
  if (!cluster_in_block(b, r, shared)) return;
  while (!r.is_all(b)) {
    refs[r.left] = r.c.ref[0];
    if (r.left < r.right) {
      refs[r.left + 1] = r.c.count > 1 ? r.c.ref[1] : kNone;
      b.sizes[r.right] =
          (uint8_t)((r.c.size[0] == 1 ? kLeftIsPrimitive : 0u) | (r.c.size[1] == 1 ? kRightIsPrimitive : 0u));
    }
    const bool is_right = r.goes_right(b);
    __threadfence();
    const uint32_t end = atomicExch(b.parents + (is_right ? r.right : r.left - 1), is_right ? r.left : r.right);
    if (end == kNone) return;
    const uint32_t first = is_right ? r.right + 1 : end, size = is_right ? end - r.right : r.left - end;
    const uint32_t second = size > 1 ? load_fresh(refs + first + 1) : kNone;
    const uint32_t kinds = size > 1 ? load_fresh(b.sizes + (first + size - 1)) : kLeftIsPrimitive;
    Clusters n;
    n.count = second == kNone ? 1 : 2;
    load_cluster(b, n, 0, load_fresh(refs + first), kinds & kLeftIsPrimitive);
    if (n.count > 1) load_cluster(b, n, 1, second, kinds & kRightIsPrimitive);
    r.join_neighbor(b, n, end, is_right);
  }
  if (r.c.count > 1) merge_pair(b, r.c, b.count - 2);
  b.state->root = r.c.ref[0];
}

}  // namespace rt
