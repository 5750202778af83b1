"""The 80-byte nodes of the hierarchy, decoded from their bytes alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.scene import Array

WIDTH = 8
NODE = np.dtype(
    [
        ("origin", "<f4", 3),
        ("exponent", "u1", 3),
        ("inner", "u1"),
        ("child_base", "<u4"),
        ("sphere_base", "<u4"),
        ("leaf_end", "u1", WIDTH),
        ("bounds", "u1", (3, 2, WIDTH)),
    ]
)
assert NODE.itemsize == 80

Box = tuple[Array, Array]


@dataclass(frozen=True)
class Tree:
    """Decoded nodes, and the spheres in the order of the leaves."""

    nodes: NDArray[np.void]
    order: NDArray[np.int32]
    spheres: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.nodes)

    def box(self, node: int, slot: int) -> Box:
        """Lowest and highest corner of a slot, as its bytes say."""
        row = self.nodes[node]
        cell = 2.0 ** (row["exponent"].astype(np.float64) - 127)
        origin = row["origin"].astype(np.float64)
        low, high = row["bounds"][:, 0, slot], row["bounds"][:, 1, slot]
        return origin + low * cell, origin + high * cell

    def leaves(self, node: int) -> Iterator[tuple[int, int, Box]]:
        """First and last position (half open) and box of every leaf slot that is not empty."""
        row = self.nodes[node]
        ends = row["leaf_end"].astype(np.int64)
        starts = np.concatenate([[0], ends[:-1]])
        assert (ends >= starts).all(), f"node {node}: leaf ends must not fall"
        base = int(row["sphere_base"])
        for slot in range(WIDTH):
            if ends[slot] > starts[slot]:
                assert not int(row["inner"]) >> slot & 1, f"node {node}: a leaf that is a node"
                yield base + int(starts[slot]), base + int(ends[slot]), self.box(node, slot)

    def children(self, node: int) -> Iterator[tuple[int, Box]]:
        row = self.nodes[node]
        slots = [slot for slot in range(WIDTH) if int(row["inner"]) >> slot & 1]
        for rank, slot in enumerate(slots):
            yield int(row["child_base"]) + rank, self.box(node, slot)


def read_tree(nodes: NDArray[np.uint8], order: Any, spheres: Any) -> Tree:
    """Check the arrays' shapes and decode them."""
    assert nodes.dtype == np.uint8
    assert nodes.ndim == 2
    assert nodes.shape[1] == NODE.itemsize
    assert order.dtype == np.int32
    assert spheres.dtype == np.float32
    assert spheres.shape == (len(order), 4)
    return Tree(np.ascontiguousarray(nodes).view(NODE).reshape(-1), order, spheres)


def walk(tree: Tree) -> Iterator[tuple[int, list[tuple[int, int, Array, Array]]]]:
    """Every node, children before parents, with (first, last, low, high) of every box in it.

    The spheres under a child node are one run of positions, so a box is checked against all
    spheres below it and not only against the boxes one step down.
    """
    if len(tree) == 0:
        return
    ranges: dict[int, list[tuple[int, int]]] = {}
    stack: list[tuple[int, bool]] = [(0, False)]
    while stack:
        node, ready = stack.pop()
        assert node < len(tree), f"node {node} does not exist"
        if not ready:
            assert len(stack) <= WIDTH * len(tree) + 1, "the nodes form a cycle"
            stack.append((node, True))
            stack.extend((child, False) for child, _ in tree.children(node))
            continue
        boxes = [(first, last, *box) for first, last, box in tree.leaves(node)]
        below = [(first, last) for first, last, _, _ in boxes]
        for child, (low, high) in tree.children(node):
            for first, last in ranges.pop(child):
                boxes.append((first, last, low, high))
                below.append((first, last))
        ranges[node] = _joined(below)
        yield node, boxes


def _joined(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs of positions with neighbours put together."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def check(tree: Tree, spheres: NDArray[Any], apart: int = 0, slack: float = 0.0) -> None:
    """Assert what every tree must be.

    Args:
        tree: decoded.
        spheres: (N, 4), in the order of the scene.
        apart: how many of the last in the order of the leaves lie beside the tree.
        slack: by how much of its largest coordinate a box may be too small.
    """
    count = len(spheres)
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(count))
    np.testing.assert_array_equal(tree.spheres, spheres.astype(np.float32)[tree.order])
    visited = np.zeros(count, np.int64)
    nodes_seen = np.zeros(len(tree), np.int64)
    for node, boxes in walk(tree):
        nodes_seen[node] += 1
        for first, last, _ in tree.leaves(node):
            visited[first:last] += 1
        for first, last, low, high in boxes:
            inside = tree.spheres[first:last].astype(np.float64)
            center, radius = inside[:, :3], inside[:, 3:]
            more = slack * np.maximum(np.abs(low), np.abs(high))
            assert (center - radius >= low - more).all(), f"node {node}: below its box"
            assert (center + radius <= high + more).all(), f"node {node}: above its box"
    assert visited.max(initial=1) == 1, "no sphere lies in two leaves"
    assert not visited[count - apart :].any(), "what lies beside the tree is in no leaf"
    shown = {tuple(row) for row in tree.spheres[visited == 1].tolist()}
    left_out = np.flatnonzero(visited[: count - apart] == 0)
    hidden = {tuple(row) for row in tree.spheres[left_out].tolist()}
    assert hidden <= shown, "every sphere lies in a leaf, or one that equals it does"
    if count:
        np.testing.assert_array_equal(nodes_seen, 1, "every node has exactly one parent")
