// title: LBVH
// idea: along a Morton curve primitives are the leaves of a radix tree already. Each inner node finds its range and where
//       it is cut by binary searches in the sorted keys, all nodes at once; then boxes grow from the leaves up, where the
//       second of two children goes on. One pass over nodes and one over leaves; but cuts halve space wherever surfaces are
// block: 256
// grid: ceil(spheres / 256)
// steps: 2
// flags: --fmad=false
// source: Karras 2012 (Maximizing Parallelism in the Construction of BVHs, Octrees, and k-d Trees)
#include "binary_tree.cuh"

namespace rt {

// Leading bits that the keys at two places have in common; of equal keys, those of the places too. -1 beyond the ends.
RT_DEVICE int common_bits(const Build& b, long long i, long long j) {
  if (j < 0 || j >= b.count) return -1;
  const uint64_t differing = b.keys[0][i] ^ b.keys[0][j];
  return differing ? __clzll((long long)differing) : 64 + __clz((int)((uint32_t)i ^ (uint32_t)j));
}

// Inner node i begins or ends at place i. `direction`: to its other end.
struct RadixNode {
  long long i, other, cut;  // the last place of its left child
};
RT_DEVICE RadixNode find_node(const Build& b, long long i) {
  const int direction = common_bits(b, i, i + 1) > common_bits(b, i, i - 1) ? 1 : -1;
  const int outside = common_bits(b, i, i - direction);  // all of the node have more in common
  long long most = 2;
  while (common_bits(b, i, i + most * direction) > outside) most *= 2;
  long long length = 0;
  for (long long step = most / 2; step > 0; step /= 2)
    if (common_bits(b, i, i + (length + step) * direction) > outside) length += step;
  const long long other = i + length * direction;
  const int inside = common_bits(b, i, other);
  long long cut = 0;  // from i on: the last place that has more in common with it
  for (long long step = most / 2; step > 0; step /= 2)
    if (common_bits(b, i, i + (cut + step) * direction) > inside) cut += step;
  return {i, other, i + cut * direction - (direction < 0)};
}

// Inner nodes and leaves have the numbers of places; what is above them is in memory that the tree does not use yet.
struct Parents {
  uint32_t *of_node, *of_leaf;
  RT_DEVICE explicit Parents(const Build& b) : of_node((uint32_t*)b.nodes), of_leaf(b.order) {}
};

}  // namespace rt

extern "C" __global__ void __launch_bounds__(256) build(const __grid_constant__ rt::BuildArgs args) {
  const rt::Build b{args};
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, *primitives = b.values[0];
  if (i == 0) b.state->root = b.count == 1 ? primitives[0] : 0;
  if (i + 1 >= b.count) return;
  const rt::RadixNode node = rt::find_node(b, i);
  const uint32_t left = (uint32_t)node.cut, right = left + 1;
  const bool left_is_leaf = min(node.i, node.other) == left, right_is_leaf = max(node.i, node.other) == right;
  const rt::Parents parents(b);
  (left_is_leaf ? parents.of_leaf : parents.of_node)[left] = i;
  (right_is_leaf ? parents.of_leaf : parents.of_node)[right] = i;
  rt::write_children(b, i, left_is_leaf ? primitives[left] : left, right_is_leaf ? primitives[right] : right,
                     (left_is_leaf ? rt::kLeftIsPrimitive : 0u) | (right_is_leaf ? rt::kRightIsPrimitive : 0u));
}

extern "C" __global__ void __launch_bounds__(256) build_2(const __grid_constant__ rt::BuildArgs args) {
  const rt::Build b{args};
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.count || b.count == 1) return;
  const rt::Parents parents(b);
  for (uint32_t node = parents.of_leaf[i];; node = parents.of_node[node]) {
    __threadfence();
    if (atomicExch(b.parents + node, i) == rt::kNone) return;  // the other child comes later, and goes on
    __threadfence();
    const rt::Cluster& c = b.clusters[node];
    const uint32_t kinds = b.sizes[node];
    rt::write_box(b, node,
                  rt::join(rt::load_box(b, c.left, kinds & rt::kLeftIsPrimitive),
                           rt::load_box(b, c.right, kinds & rt::kRightIsPrimitive)));
    if (node == 0) return;
  }
}
