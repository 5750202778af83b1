"""Kernels that build and refit a tree, compiled for the CPU: valid trees, and growth as float64."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.backends.cuda.moving_spheres import FOUND
from raytracer.backends.cuda.tree import (
    PACKED_BYTES,
    compute_box_bytes,
    compute_scratch_sizes,
    compute_tree_sizes,
)
from raytracer.system import layout
from support.nodes import check, read_tree, walk
from support.trees_on_cpu import Memory, builder, tree_on

COUNT, APART = 300, 7  # of them beside the tree
Floats = NDArray[np.float32]


@pytest.fixture(scope="module")
def kernels(libraries: Path) -> ctypes.CDLL:
    return builder(libraries)


def keys(numbers: Floats) -> NDArray[np.uint32]:
    bits = numbers.view(np.uint32)
    return np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)).astype(np.uint32)


def result_of(memory: Memory) -> Any:
    return memory.arrays["state"][: FOUND.itemsize].view(FOUND)["tree"][0].copy()


def nodes_of(memory: Memory) -> NDArray[np.void]:
    size = 80 * int(result_of(memory)["node_count"])
    return memory.arrays["nodes"][:size].view(layout.struct_dtype("Node")).copy()


def costs_of(memory: Memory, records: Floats) -> NDArray[np.float64]:
    """Check the tree against its definition; return what a ray that meets each node costs."""
    order, leaves = (memory.arrays[name].view("i4") for name in ("order", "spheres"))
    nodes = nodes_of(memory).view(np.uint8).reshape(-1, 80)
    tree = read_tree(nodes, order, leaves.view(np.float32).reshape(-1, 4))
    check(tree, records, APART, slack=2.0**-20)
    rows = tree.spheres.astype(np.float64)
    low, high = rows[:, :3] - rows[:, 3:], rows[:, :3] + rows[:, 3:]
    bounds = np.zeros((len(tree), 2, 3))
    costs = np.zeros(len(tree))
    for node, _ in walk(tree):  # children before their parents
        assert all(b - a <= 8 for a, b, _ in tree.leaves(node))
        of_leaves = [
            (np.array([low[a:b].min(0), high[a:b].max(0)]), 0.25 * (b - a))
            for a, b, _ in tree.leaves(node)
        ]
        every = [*of_leaves, *((bounds[child], 1.0) for child, _ in tree.children(node))]
        bounds[node, 0] = np.min([box[0] for box, _ in every], axis=0)
        bounds[node, 1] = np.max([box[1] for box, _ in every], axis=0)
        for box, weight in every:
            x, y, z = box[1] - box[0]
            costs[node] += weight * (x * y + y * z + z * x)
    return costs


def test_trees_are_valid_and_follow_spheres(kernels: ctypes.CDLL) -> None:
    g = np.random.default_rng(1)
    records = g.uniform(-1.0, 1.0, (COUNT, 4)).astype(np.float32)
    records[:, 3] = 0.05
    sizes = (
        compute_tree_sizes(COUNT, 16)
        | compute_scratch_sizes(COUNT)
        | {"boxes": compute_box_bytes(COUNT)}
    )
    memory = Memory(sizes | {"records": 16 * COUNT, "apart": 4 * APART})
    placed = memory.arrays["records"].view(np.float32).reshape(-1, 4)
    placed[:] = records
    memory.arrays["apart"].view(np.int32)[:] = np.arange(COUNT - APART, COUNT)
    packed = memory.arrays["state"][:PACKED_BYTES].view(layout.struct_dtype("PackInfo"))
    packed["low"] = keys(records[:-APART, :3].min(axis=0))
    packed["high"] = ~keys(records[:-APART, :3].max(axis=0))
    tree = tree_on(kernels, memory, COUNT, APART)
    tree.build(None, has_bounds=True)
    first, built = costs_of(memory, records), nodes_of(memory)
    refit = tree.refit()
    for step in range(1, 4):
        refit(None)
        result = result_of(memory)
        assert (result["refits"], result["too_deep"]) == (step, 0)
        growth = result["growth"][step % 2] / 2.0**20
        expected = np.minimum(costs_of(memory, placed.copy()) / first, 8.0).sum()
        np.testing.assert_allclose(growth, expected, rtol=1e-4)
        if step == 1:
            assert nodes_of(memory).tobytes() == built.tobytes(), "nothing has moved"
        placed[:, :3] += g.normal(0.0, 0.05, (COUNT, 3))
    placed[:] = records
    tree.build(None)
    assert nodes_of(memory).tobytes() == built.tobytes(), "with bounds of its own"
    assert result_of(memory)["refits"] == 0
    placed[:, :3] += g.normal(0.0, 0.05, (COUNT, 3))
    refit(None)
    costs_of(memory, placed.copy())
