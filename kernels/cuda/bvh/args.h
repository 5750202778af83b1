// What the kernels that build and refit a tree receive. Addresses are of device memory; arrays that are dead share
// memory with later ones (backends/cuda/tree.py says which).
#pragma once

#define RT_BUILDARGS(F)                                                                                       \
  F(uint64_t, records, 1)                    /* of the primitives, in the order of the input */               \
  F(uint64_t, nodes, 1) F(uint64_t, spheres, 1) F(uint64_t, order, 1) /* the tree */                          \
  F(uint64_t, keys, 1) F(uint64_t, values, 1)         /* uint64, uint32: to be sorted; N each */              \
  F(uint64_t, keys_b, 1) F(uint64_t, values_b, 1)     /* the other pair of the sort */                        \
  F(uint64_t, lookback, 1)                   /* uint64: 256 for each tile of the sort */                      \
  F(uint64_t, parents, 1)                    /* uint32 (N): the other end of a range, or ~0 */                \
  F(uint64_t, clusters, 1) F(uint64_t, sizes, 1) /* Cluster (N), uint8 (N): primitives, at most 255 */        \
  F(uint64_t, queue, 1)                      /* uint32: cluster of each node, in the order of the nodes */    \
  F(uint64_t, status, 1)                     /* uint64: of each tile of nodes, a prefix of sums */            \
  F(uint64_t, boxes, 1)                      /* NodeBox of each node: for a refit */                          \
  F(uint64_t, state, 1)                      /* BuildState */                                                 \
  F(int64_t, count, 1)                       /* primitives in the tree */                                     \
  F(int32_t, apart_count, 1)                 /* primitives beside the tree, the last ones in leaf order */    \
  F(int32_t, step, 1)                        /* pass of the sort, level of the nodes */                       \
  F(uint64_t, apart, 1)                      /* uint32: their numbers, ascending */                           \
  F(uint64_t, unused, 1)

// What a build or refit leaves for the host. cost: surfaces of the nodes, in parts of 2^-20 of that of the root when the
// tree was built: the expected number of nodes that a ray through the root visits.
#define RT_TREERESULT(F) F(uint32_t, node_count, 1) F(uint32_t, too_deep, 1) F(uint64_t, cost, 1)
