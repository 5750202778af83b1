"""The binary tree of the render ladder: every sphere once, boxes that hold what is below them."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.benchmark import binary_tree
from raytracer.packing.buffers import Bvh, build_bvh
from raytracer.packing.pack import pack
from support.libraries import library
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


TRAVERSAL = """
#include "cuda_on_cpu.h"
#define asm if (false) asm
#include "ladders/render/traverse_binary.cuh"
extern "C" void go(const float* nodes, const float* spheres, const float* rays, int count,
                   float* t, unsigned* hit, bool* occluded) {
  const rt::BinaryTree tree = {(const float4*)nodes, (const rt::PrimitiveRecord*)spheres};
  for (int i = 0; i < count; i++, rays += 6) {
    const rt::Vec3<float> o = rt::vec3(rays[0], rays[1], rays[2]);
    const rt::Vec3<float> d = rt::vec3(rays[3], rays[4], rays[5]);
    t[i] = rt::kInfinity, hit[i] = ~0u;
    tree.intersect_closest(o, d, ~0u, t[i], hit[i], rt::AllHits{});
    occluded[i] = tree.occluded(o, d, ~0u, rt::kInfinity, rt::AllHits{});
  }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 5, 700])
def test_rays_find_what_brute_force_finds(count: int, tmp_path: Path) -> None:
    """The traversal of the rung, compiled for the CPU."""
    _, binary = made(count)
    rng, rays = np.random.default_rng(count), 500
    origins = rng.normal(size=(rays, 3)) * 3
    targets = binary.spheres[rng.integers(0, count, rays), :3] + rng.normal(size=(rays, 3)) * 0.05
    directions = targets - origins
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    given = np.concatenate([origins, directions], axis=1).astype(np.float32)
    words = np.zeros(binary.nodes.nbytes + 64, np.uint8)  # aligned to 16 bytes
    nodes = words[-words.ctypes.data % 16 :][: binary.nodes.nbytes]
    nodes[:] = binary.nodes.reshape(-1)
    room = np.zeros(4 * count + 16, np.float32)
    spheres = room[-room.ctypes.data % 16 // 4 :][: 4 * count]
    spheres[:] = binary.spheres.reshape(-1)
    t, hit = np.zeros(rays, np.float32), np.zeros(rays, np.uint32)
    occluded = np.zeros(rays, np.bool_)
    flags = ("-ffp-contract=off", "-DSTATIC_SHARED")
    go = library(tmp_path, "binary", TRAVERSAL, *flags).go
    places = [each.ctypes.data_as(ctypes.c_void_p) for each in (nodes, spheres, given)]
    found = [each.ctypes.data_as(ctypes.c_void_p) for each in (t, hit, occluded)]
    go(*places, rays, *found)

    o, d = given[:, None, :3].astype(float), given[:, None, 3:].astype(float)
    centers, radii = binary.spheres[None, :, :3].astype(float), binary.spheres[None, :, 3]
    along = ((centers - o) * d).sum(-1)
    apart = radii.astype(float) ** 2 - ((centers - o) ** 2).sum(-1) + along**2
    half = np.sqrt(np.maximum(apart, 0))
    near = np.where(along - half > 0, along - half, along + half)  # from inside: the far side
    every = np.where((apart > 0) & (near > 0), near, np.inf)
    clear = np.abs(apart).min(axis=1) > 1e-4  # no ray that touches a sphere
    nearest = every.min(axis=1)
    meets = np.isfinite(nearest)
    assert meets[clear].any()
    assert (occluded[clear] == meets[clear]).all()
    assert ((hit != 0xFFFFFFFF)[clear] == meets[clear]).all()
    both = clear & meets
    np.testing.assert_allclose(t[both], nearest[both], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(every[both, hit[both]], nearest[both], rtol=1e-3, atol=1e-3)
