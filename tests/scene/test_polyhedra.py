"""Coordination polyhedra: volumes beside closed forms and Qhull, neighbours across borders."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.errors import SceneError
from raytracer.scene.glyphs.polyhedra import Hulls, convex_hulls
from reference.scene import Array
from support.glyphs import mesh_of, shown
from support.molecules import is_closed, volume

TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)
OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)])
CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))
CUBOCTAHEDRON = np.array([p for p in product((-1.0, 0.0, 1.0), repeat=3) if np.abs(p).sum() == 2])
PRISM = np.array([(np.cos(a), np.sin(a), z) for a in 2 * np.pi * np.arange(3) / 3 for z in (0, 2)])

SOLIDS = {
    "tetrahedron": (TETRAHEDRON, 8.0 / 3.0, 6),
    "octahedron": (OCTAHEDRON, 4.0 / 3.0, 12),
    "cube": (CUBE, 8.0, 12),
    "cuboctahedron": (CUBOCTAHEDRON, 20.0 / 3.0, 24),
    "prism": (PRISM, 2.0 * 3.0 * np.sqrt(3.0) / 4.0, 9),
}
"""Corners, volume and number of edges."""

PEROVSKITE = """data_SrTiO3
_cell_length_a 3.905
_cell_length_b 3.905
_cell_length_c 3.905
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_space_group_name_H-M_alt 'P m -3 m'
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
Sr Sr 0 0 0
Ti Ti 0.5 0.5 0.5
O O 0.5 0.5 0
"""


def turned(seed: int) -> Array:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0])


def hulls_of(*groups: Array) -> tuple[Array, Hulls]:
    first = np.cumsum([0, *map(len, groups)])
    points = np.concatenate(groups)
    return points, convex_hulls(points, first)


def of_group(made: Hulls, group: int) -> Any:
    return made.triangles[made.group == group]


@pytest.mark.parametrize(("points", "size", "edges"), SOLIDS.values(), ids=SOLIDS)
def test_volumes_of_solids(points: Array, size: float, edges: int) -> None:
    """Also turned, moved, and beside others; faces of four corners have no diagonals as edges."""
    copies = [points, 3.0 * points @ turned(1) + 7.0, points @ turned(2), OCTAHEDRON]
    points_of_all, made = hulls_of(*copies)
    for group, factor in enumerate((1.0, 27.0, 1.0)):
        triangles = of_group(made, group)
        assert is_closed(points_of_all, triangles)
        assert volume(points_of_all, triangles) == pytest.approx(factor * size)
        assert (made.edge_group == group).sum() == edges


@pytest.mark.parametrize("count", [4, 5, 7, 12, 24])
def test_hulls_of_random_points_are_those_of_qhull(count: int) -> None:
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(count).normal(size=(20, count, 3))
    flat, made = hulls_of(*points)
    for group, each in enumerate(points):
        expected = spatial.ConvexHull(each)
        triangles = of_group(made, group)
        assert is_closed(flat, triangles)
        assert volume(flat, triangles) == pytest.approx(expected.volume, rel=1e-9)
        used = np.unique(triangles) - group * count
        assert used.tolist() == sorted(expected.vertices.tolist())
        assert len(triangles) == 2 * len(expected.vertices) - 4


def test_points_of_a_plane_make_none() -> None:
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    _, made = hulls_of(square, square @ turned(3))
    assert not len(made.triangles)
    assert not len(made.edges)


# In scenes


@pytest.fixture
def perovskite(tmp_path: Path) -> Path:
    path = tmp_path / "perovskite.cif"
    path.write_text(PEROVSKITE)
    return path


def test_octahedra_across_periodic_borders(perovskite: Path) -> None:
    scene = shown(perovskite, polyhedra="Ti-O")
    vertices, triangles = mesh_of(scene)
    assert len(triangles) == 8
    assert volume(vertices, triangles) == pytest.approx(3.905**3 / 6.0)  # 4/3 (a/2)^3
    assert scene.capsule_count == 12
    assert vertices.mean(axis=0) == pytest.approx(np.full(3, 3.905 / 2.0))
    repeated = shown(perovskite, polyhedra="Ti-O", replicate=2)
    assert volume(*mesh_of(repeated)) == pytest.approx(8 * 3.905**3 / 6.0)


def test_neighbours_outside_of_the_box_are_drawn(perovskite: Path) -> None:
    """Of six atoms of an octahedron three are in the cell, and three are their images."""
    scene = shown(perovskite, polyhedra="Ti-O", palette="vesta")
    (balls,) = scene.ellipsoids
    oxygen = np.asarray(scene.spheres[0].columns["element"]) == "O"
    inside = np.asarray(scene.spheres[0].centers)[oxygen]
    corners = np.unique(mesh_of(scene)[0].round(6), axis=0)
    both = np.concatenate([inside, balls.centers])
    assert np.sort(both.round(6), axis=0) == pytest.approx(np.sort(corners, axis=0), abs=1e-5)
    assert balls.semi_axes == pytest.approx(
        np.tile(np.asarray(scene.spheres[0].radius)[oxygen][:, None], 3)
    )
    assert not shown(perovskite, polyhedra="Ti-O,particles=0").ellipsoids
    faded = shown(perovskite, polyhedra="Ti-O,particles=0.5", opacity=0.5).ellipsoids[0]
    assert np.asarray(faded.start.opacity) == pytest.approx(0.25)


def test_cuboctahedra_of_twelve_neighbours(perovskite: Path) -> None:
    scene = shown(perovskite, polyhedra="Sr-O=3")
    assert volume(*mesh_of(scene)) == pytest.approx(3.905**3 * 5.0 / 6.0)
    both = shown(perovskite, polyhedra={"pairs": {"Sr-O": 3.0, "Ti-O": 2.2}})
    assert volume(*mesh_of(both)) == pytest.approx(3.905**3)  # together they fill the cell


def test_atoms_and_their_own_images(tmp_path: Path) -> None:
    """In a cell of one atom the six neighbours are its images."""
    path = tmp_path / "po.vasp"
    path.write_text("po\n1.0\n3.36 0 0\n0 3.36 0\n0 0 3.36\nPo\n1\nDirect\n0 0 0\n")
    vertices, triangles = mesh_of(shown(path, polyhedra="Po-Po=3.5"))
    assert volume(vertices, triangles) == pytest.approx(4.0 / 3.0 * 3.36**3)


def test_looks(perovskite: Path) -> None:
    plain = shown(perovskite, polyhedra="Ti-O", palette="vesta")
    colors = raytracer.load(perovskite).styled(palette="vesta").spheres[0]
    assert colors.color_id is not None
    titanium = colors.color[colors.color_id][list(colors.columns["element"]).index("Ti")] / 255.0
    mesh, edges = plain.meshes[0].start, plain.capsules[0]
    assert np.asarray(mesh.color)[0] == pytest.approx(titanium, abs=0.01)
    assert np.asarray(edges.start.color)[0] == pytest.approx(0.6 * titanium, abs=0.01)
    assert mesh.opacity == pytest.approx(0.6)
    said = shown(
        perovskite, polyhedra="Ti-O,color=navy,opacity=1,edges=0.05,edge_color=white,particles=0"
    )
    assert said.count == 0
    assert np.asarray(said.meshes[0].start.color)[0] == pytest.approx([0, 0, 128 / 255], abs=0.01)
    assert said.capsules[0].radius == pytest.approx(0.05)
    assert not shown(perovskite, polyhedra="Ti-O,edges=0").capsules


def test_a_scene_file(perovskite: Path, tmp_path: Path) -> None:
    scene = tmp_path / "scene.toml"
    scene.write_text(
        '[[spheres]]\nfile = "perovskite.cif"\ntransform = { scale = 2.0 }\n'
        "[polyhedra]\npairs = { Ti-O = 2.2 }\nedges = 0.1\n"
    )
    made = shown(scene)
    assert volume(*mesh_of(made)) == pytest.approx(3.905**3 / 6.0)  # in the units of the set
    assert made.capsules[0].radius == pytest.approx(0.05)
    assert made.meshes[0].transform.scale == 2.0


def test_particles_without_types_are_refused() -> None:
    scene = raytracer.Scene.from_arrays(OCTAHEDRON)
    with pytest.raises(SceneError, match="have types or elements"):
        raytracer.render(scene, polyhedra="Ti-O", width=8, height=8)
