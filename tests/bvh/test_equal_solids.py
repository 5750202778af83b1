"""Equal solids in one place: one of them is tested, and those that differ are all seen."""

from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, ConeSet, EllipsoidSet, Mesh
from raytracer.packing.buffers import build_bvh
from raytracer.packing.pack import pack
from support.nodes import read_tree, walk

COUNT = 4000
KINDS = ("triangles", "colours", "cones", "ellipsoids", "capsules")
UP = np.array([[-1, -1, 0], [1, -1, 0.2], [0, 1, 0.1]])
DOWN = UP * (1, -1, 1)  # in the same box


def equal(kind: str, count: int) -> dict[str, Any]:
    """Solids that are equal, as arguments of a scene."""
    starts, ends = np.tile([[0.0, -1, 0]], (count, 1)), np.tile([[0.2, 1, 0]], (count, 1))
    match kind:
        case "triangles":
            return {"meshes": [Mesh(UP, np.tile([[0, 1, 2]], (count, 1)))]}
        case "colours":  # of corners of their own
            faces = np.arange(3 * count).reshape(-1, 3)
            vertices = np.tile(UP, (count, 1))
            return {"meshes": [Mesh(vertices, faces, colors=np.full(vertices.shape, 0.5))]}
        case "cones":
            return {"cones": [ConeSet(starts, ends, 0.5, 0.1)]}
        case "ellipsoids":
            return {"ellipsoids": [EllipsoidSet(0 * starts, (1.0, 0.5, 0.7))]}
    return {"capsules": [CapsuleSet(starts, ends, 0.3)]}


def depth(**content: Any) -> Any:
    camera = raytracer.Camera(position=(0.3, 0.2, 5), look_at=(0, 0, 0))
    scene = raytracer.Scene(camera=camera, **content)
    options: dict[str, Any] = {"samples": 1, "backend": "cpu", "aovs": ["depth"]}
    return raytracer.render(scene, width=64, height=48, **options).film.aovs["depth"]


@pytest.mark.parametrize("kind", KINDS)
def test_of_equal_solids_one_is_tested(kind: str) -> None:
    """Else every ray that comes near would test them all."""
    content = equal(kind, COUNT)
    tree = build_bvh(pack(raytracer.Scene(**content)), 2)
    assert len(tree.nodes) == 1
    assert sorted(tree.order) == list(range(COUNT))
    many, one = depth(**content), depth(**equal(kind, 1))
    np.testing.assert_array_equal(many, one)
    assert np.isfinite(one).any()


def test_triangles_that_share_a_box_alone_are_all_seen() -> None:
    vertices = np.concatenate([UP, DOWN])
    pair = Mesh(vertices, [[0, 1, 2], [3, 4, 5]])
    many = Mesh(vertices, np.tile(pair.triangles, (500, 1)))
    np.testing.assert_array_equal(depth(meshes=[many]), depth(meshes=[pair]))


def test_ellipsoids_that_share_a_box_alone_are_all_seen() -> None:
    """A turn by 45 degrees in one direction or the other gives the same box."""
    half = np.pi / 8
    turns = [[0, 0, np.sin(half), np.cos(half)], [0, 0, -np.sin(half), np.cos(half)]]
    pair = EllipsoidSet(np.zeros((2, 3)), (1.0, 0.2, 0.2), turns)
    many = EllipsoidSet(np.zeros((1000, 3)), (1.0, 0.2, 0.2), np.tile(turns, (500, 1)))
    np.testing.assert_array_equal(depth(ellipsoids=[many]), depth(ellipsoids=[pair]))


GLASS = raytracer.Principled(transmission=1.0, roughness=0.0, ior=1.5)


@pytest.mark.parametrize(("look", "seen"), [(raytracer.Material(), 4), (GLASS, 120)])
def test_closed_meshes_of_glass_in_one_place_keep_their_triangles(look: Any, seen: int) -> None:
    """Rays in glass count the walls of each mesh, other rays see the first."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    meshes = [Mesh(corners, faces)] * 30
    built = build_bvh(pack(raytracer.Scene(meshes=meshes, materials={"default": look})), 2)
    tree = read_tree(built.nodes, built.order, built.spheres[: len(built.order), :4])
    held = sum(last - first for node, _ in walk(tree) for first, last, _ in tree.leaves(node))
    assert held == seen
