"""The binary tree of the render ladder: every sphere once, boxes that hold what is below them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.benchmark import binary_tree
from raytracer.buffers import Bvh, build_bvh
from raytracer.scene.packing.pack import pack
from support.project import to_project
from support.scenes import random_scene

NODE = np.dtype([("lo", "f4", 3), ("first", "u4"), ("hi", "f4", 3), ("count", "u4")])


def made(count: int) -> tuple[Bvh, Bvh]:
    """The wide tree of a random scene, and the binary one made of it."""
    wide = build_bvh(pack(to_project(random_scene(3, count))))
    return wide, binary_tree.build(wide)


def walk(nodes: NDArray[Any], spheres: NDArray[np.float32], depth_at_most: int) -> list[int]:
    """Places of all spheres below the root, in order; asserts what a node promises."""
    found: list[int] = []
    pending = [(0, 0)]
    while pending:
        index, depth = pending.pop()
        assert depth <= depth_at_most
        node = nodes[index]
        if node["count"]:
            places = range(int(node["first"]), int(node["first"] + node["count"]))
            found += places
            inside = spheres[list(places)]
            assert (node["lo"] <= inside[:, :3] - inside[:, 3:]).all()
            assert (node["hi"] >= inside[:, :3] + inside[:, 3:]).all()
            continue
        for child in (int(node["first"]) + 1, int(node["first"])):
            assert (node["lo"] <= nodes[child]["lo"]).all()
            assert (node["hi"] >= nodes[child]["hi"]).all()
            assert (nodes[child]["lo"] <= nodes[child]["hi"]).all()  # none is empty
            pending.append((child, depth + 1))
    return found


@pytest.mark.parametrize("count", [1, 2, 4, 5, 8, 9, 17, 100, 257, 1000])
def test_every_sphere_once_and_boxes_hold_them(count: int) -> None:
    wide, binary = made(count)
    nodes = binary.nodes.view(NODE).reshape(-1)
    places = walk(nodes, binary.spheres, int(np.ceil(np.log2(count))) + 1)
    assert places == list(range(count))
    assert sorted(binary.order.tolist()) == list(range(count))
    of_input = dict(zip(wide.order.tolist(), wide.spheres.tolist(), strict=True))
    assert [of_input[i] for i in binary.order.tolist()] == binary.spheres.tolist()


def test_no_spheres() -> None:
    _, binary = made(0)
    assert len(binary.order) == 0
    assert binary.nodes.shape == (1, NODE.itemsize)


@pytest.mark.parametrize("large", [1, 3])
def test_large_spheres_stay_at_the_end(large: int) -> None:
    wide, _ = made(40)
    binary = binary_tree.build(wide, large)
    places = walk(binary.nodes.view(NODE).reshape(-1), binary.spheres, 7)
    assert places == list(range(40 - large))
    assert binary.order[-large:].tolist() == wide.order[-large:].tolist()
    assert binary.spheres[-large:].tolist() == wide.spheres[-large:].tolist()
    assert sorted(binary.order.tolist()) == list(range(40))
