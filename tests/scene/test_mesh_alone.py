"""Meshes that are the scene, and meshes of several bodies of glass."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Mesh, load
from raytracer.cli import main
from raytracer.errors import SceneError, UserError
from raytracer.warning import collected
from support.particle_files import write

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
OFF = "OFF\n4 4 0\n" + "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS) + "".join(
    f"3 {a} {b} {c}\n" for a, b, c in FACES)  # fmt: skip
SMALL: dict[str, Any] = {"width": 32, "height": 24, "samples": 1, "backend": "cpu"}


@pytest.fixture
def wall(tmp_path: Path) -> Path:
    pytest.importorskip("trimesh")
    return write(tmp_path / "wall.off", OFF)


def test_a_mesh_is_a_picture(wall: Path) -> None:
    scene = load(wall)
    assert (scene.counts()["triangle"], scene.count, scene.title) == (4, 0, "wall")
    assert raytracer.render(wall, **SMALL).statistics.covered > 50


def test_bounds_of_a_mesh_are_those_of_its_corners(
    wall: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(wall), "--json"]) == 0
    bounds = json.loads(capsys.readouterr().out)["drawn"]["bounds"]
    assert bounds == {"low": [0, 0, 0], "high": [1, 1, 1]}


def test_colour_and_opacity_are_those_of_the_mesh(wall: Path) -> None:
    plain = raytracer.render(wall, **SMALL).pixels(8).astype(int)
    red = raytracer.render(wall, **SMALL, color="red").pixels(8).astype(int)
    assert (red[..., 0] - red[..., 1]).max() > 60 > (plain[..., 0] - plain[..., 1]).max()


def test_meshes_and_particles_in_one_picture(wall: Path, tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,y,z\n2,2,2\n3,2,2\n")
    for files in ([wall, table], [table, wall]):
        scene = load(files)
        assert (scene.count, scene.counts()["triangle"]) == (2, 4)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"frame": 1}, "there is no frame 1: it has 1 frame"),
        ({"arrays": {"x": "a"}}, "is a mesh: topology and columns are for particles"),
        ({"color_by": "x"}, "color_by: is for particles, but the scene has meshes alone"),
        ({"radius": 2.0}, "radius: is for particles, but the scene has meshes alone"),
        ({"select": "x > 0"}, "select: is for particles, but the scene has meshes alone"),
        ({"format": "stl"}, "a mesh is known by the ending of its name: call the file NAME.stl"),
    ],
)
def test_what_meshes_do_not_have(wall: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        raytracer.render(wall, **SMALL, **options)


@pytest.mark.parametrize("text", ["", "OFF\n0 0 0\n", "nothing"])
def test_a_file_without_triangles(tmp_path: Path, text: str) -> None:
    pytest.importorskip("trimesh")
    with pytest.raises(UserError, match=r"a\.off"):
        load(write(tmp_path / "a.off", text))


def test_vertices_of_a_mesh_in_ply_are_particles_with_a_note(tmp_path: Path) -> None:
    pytest.importorskip("plyfile")
    head = "ply\nformat ascii 1.0\nelement vertex 3\n" + "".join(
        f"property float {axis}\n" for axis in "xyz")  # fmt: skip
    head += "element face {}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = "0 0 0\n1 0 0\n0 1 0\n"
    for faces, text in ((1, "3 0 1 2\n"), (0, "")):
        path = write(tmp_path / f"{faces}.ply", head.format(faces) + rows + text)
        with collected() as warnings:
            assert load(path).count == 3
        assert any("mesh of 1 face, give --mesh 1.ply" in each for each in warnings) == bool(faces)


def bodies(*parts: tuple[float, float, bool]) -> tuple[Mesh, np.ndarray]:
    """Return a mesh of tetrahedra, each with a scale, a place and whether it is wound inwards, and
    the number of the body of each triangle."""
    rows = [(size * (CORNERS - 0.25) + [place, 0, 0], FACES[:, ::-1] if turned else FACES)
            for size, place, turned in parts]  # fmt: skip
    vertices = np.concatenate([points for points, _ in rows])
    triangles = np.concatenate([faces + 4 * n for n, (_, faces) in enumerate(rows)])
    return Mesh(vertices, triangles), np.repeat(np.arange(len(rows)), len(FACES))


def volumes(mesh: Mesh, body: np.ndarray) -> np.ndarray:
    """Return the signed volume of each body of a mesh."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles].astype(float), 1, 0)
    return np.bincount(body, (a * np.cross(b, c)).sum(axis=1) / 6.0)


@pytest.mark.parametrize("turned", [(False, True), (True, False), (True, True), (False, False)])
@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1.0, 3.0)])
def test_each_body_of_glass_is_turned_out(
    turned: tuple[bool, bool], sizes: tuple[float, float]
) -> None:
    mesh, body = bodies((sizes[0], 0.0, turned[0]), (sizes[1], 5.0, turned[1]))
    np.testing.assert_allclose(volumes(mesh.turned_out(), body), np.power(sizes, 3) / 6.0)


@pytest.mark.parametrize("is_inward", [False, True])
def test_a_cavity_stays_one(is_inward: bool) -> None:
    mesh, body = bodies((4.0, 0.0, is_inward), (1.0, 0.0, not is_inward))
    np.testing.assert_allclose(volumes(mesh.turned_out(), body), [64.0 / 6.0, -1.0 / 6.0])


def test_a_body_within_the_bounds_of_another_is_no_cavity() -> None:
    """In a corner of the box around a tetrahedron, outside of it."""
    mesh, body = bodies((4.0, 0.0, False), (0.5, 0.0, True))
    mesh.vertices[4:] += 1.5
    np.testing.assert_allclose(volumes(mesh.turned_out(), body), [64.0 / 6.0, 0.125 / 6.0])


def test_an_open_body_beside_others_is_refused() -> None:
    mesh, _ = bodies((1.0, 0.0, False), (1.0, 5.0, False))
    with pytest.raises(SceneError, match="is missing at 3 edges"):
        Mesh(mesh.vertices, mesh.triangles[:-1]).turned_out()
