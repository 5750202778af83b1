"""A binary tree of float boxes over spheres, built in NumPy for one variant of the ladder."""

import numpy as np
from numpy.typing import NDArray

from raytracer.packing.buffers import Bvh

LEAF = 4  # spheres per leaf


def build(tree: Bvh, large: int = 0) -> Bvh:
    """Build by median splits along the longest axis of the centroid box, level by level.

    A million spheres take about three seconds.

    Args:
        tree: a hierarchy over the same spheres; only its spheres and their order are used.
        large: number of spheres at the end that stay outside of the tree; not all of them.

    Returns:
        Spheres and order in leaf order, and nodes as uint8 (M, 32): lo float32 (3,), first uint32,
        hi float32 (3,), count uint32, as kernels/ladders/render/traverse_binary.cuh reads them.
    """
    count = len(tree.order) - large
    levels = max(int(np.ceil(np.log2(max(count, 1) / LEAF))), 0)
    positions = np.append(_places(tree.spheres[:count], levels), np.arange(count, count + large))
    spheres = tree.spheres[positions]
    nodes = _nodes(spheres[:count], levels)
    return Bvh(nodes.view(np.uint8).reshape(len(nodes), -1), tree.order[positions], spheres)


def _places(spheres: NDArray[np.float32], levels: int) -> NDArray[np.int64]:
    """Return the leaf order: indices into `spheres`, (N,)."""
    count, size = len(spheres), LEAF << levels
    # Padding to a power of two lies at infinity, so that it remains at the end.
    centers = np.full((size, 3), np.inf, np.float32)
    centers[:count] = spheres[:, :3]
    order = np.arange(size)
    for level in range(levels):
        groups = order.reshape(1 << level, -1)
        members = centers[groups]  # (groups, members, 3)
        finite = np.isfinite(members)
        extent = np.where(finite, members, -np.inf).max(1) - np.where(finite, members, np.inf).min(
            1
        )
        keys = np.take_along_axis(members, extent.argmax(1)[:, None, None], axis=2)[..., 0]
        halves = np.argpartition(keys, keys.shape[1] // 2 - 1, axis=1)
        order = np.take_along_axis(groups, halves, axis=1).reshape(-1)
    return order[:count]


def _nodes(spheres: NDArray[np.float32], levels: int) -> NDArray[np.void]:
    """Return the nodes of the complete tree in level order; siblings are adjacent."""
    count, leaves = len(spheres), 1 << levels
    kinds = [("lo", "f4", 3), ("first", "u4"), ("hi", "f4", 3), ("count", "u4")]
    nodes = np.zeros(2 * leaves - 1, kinds)
    lo = np.full((leaves * LEAF, 3), np.inf, np.float32)
    hi = -lo
    lo[:count] = spheres[:, :3] - spheres[:, 3:]
    hi[:count] = spheres[:, :3] + spheres[:, 3:]
    lo, hi = lo.reshape(leaves, LEAF, 3).min(1), hi.reshape(leaves, LEAF, 3).max(1)
    first = np.arange(leaves) * LEAF
    nodes["first"][leaves - 1 :] = first
    nodes["count"][leaves - 1 :] = np.clip(count - first, 0, LEAF)
    nodes["lo"][leaves - 1 :], nodes["hi"][leaves - 1 :] = lo, hi
    for level in range(levels - 1, -1, -1):
        parents = np.arange((1 << level) - 1, (2 << level) - 1)
        left_children, right_children = nodes[2 * parents + 1], nodes[2 * parents + 2]
        empty = right_children["lo"][:, 0] > right_children["hi"][:, 0]
        nodes["lo"][parents] = np.minimum(left_children["lo"], right_children["lo"])
        nodes["hi"][parents] = np.maximum(left_children["hi"], right_children["hi"])
        # If the right half is empty, the parent is replaced by its left child.
        nodes["first"][parents] = np.where(empty, left_children["first"], 2 * parents + 1)
        nodes["count"][parents] = np.where(empty, left_children["count"], 0)
    return nodes
