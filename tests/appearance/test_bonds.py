"""Bonds of known molecules and crystals, styles, and coordination polyhedra."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import _core
from raytracer.appearance.bonds import COVER
from raytracer.appearance.glyphs.polyhedra import Hulls, convex_hulls
from raytracer.config.errors import SceneError
from reference.scene import Array
from support.glyphs import mesh_of, shown
from support.molecules import is_closed, volume

WATER = """6
two molecules
O 0.0 0.0 0.1173
H 0.0 0.7572 -0.4692
H 0.0 -0.7572 -0.4692
O 0.0 0.0 3.0173
H 0.0 0.7572 2.4308
H 0.0 -0.7572 2.4308
"""

SALT = """8
Lattice="5.64 0 0 0 5.64 0 0 0 5.64" Properties=species:S:1:pos:R:3 pbc="T T T"
Na 0 0 0
Na 0 2.82 2.82
Na 2.82 0 2.82
Na 2.82 2.82 0
Cl 2.82 2.82 2.82
Cl 2.82 0 0
Cl 0 2.82 0
Cl 0 0 2.82
"""

CHAIN = """three beads
3 atoms
2 bonds
1 atom types
1 bond types
0 10 xlo xhi
0 10 ylo yhi
0 10 zlo zhi

Atoms # bond

1 1 1 1 1 1
2 1 1 3 1 1
3 1 1 9.5 1 1

Bonds

1 1 1 2
2 1 1 3
"""


def benzene() -> str:
    rows = []
    for symbol, radius in (("C", 1.397), ("H", 2.481)):
        angles = np.arange(6) * np.pi / 3
        rows += [f"{symbol} {radius * np.cos(a):.4f} {radius * np.sin(a):.4f} 0.0" for a in angles]
    return "12\nbenzene\n" + "\n".join(rows) + "\n"


def loaded(folder: Path, content: str, name: str = "atoms.xyz") -> raytracer.Scene:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return raytracer.load(path)


def lengths(scene: raytracer.Scene) -> Array:
    """Of all bonds, ascending."""
    parts = [c.end.centers - c.start.centers for c in scene.capsules]
    return np.sort(np.linalg.norm(np.concatenate(parts), axis=1))


def test_water_has_two_bonds_each(tmp_path: Path) -> None:
    scene = loaded(tmp_path, WATER).styled(style="ball-and-stick")
    assert scene.capsule_count == 4
    assert lengths(scene) == pytest.approx([0.9578] * 4, abs=1e-3)
    radii = scene.spheres[0].radius
    assert isinstance(radii, np.ndarray)
    assert radii[0] > radii[1]
    assert radii[0] == pytest.approx(0.25 * 1.52, rel=0.02)
    (bonds,) = scene.capsules
    assert bonds.radius == pytest.approx(0.12)
    start, end = (
        each.color[each.color_id[0]]
        for each in (bonds.start, bonds.end)
        if each.color_id is not None
    )
    assert not np.array_equal(start, end)


def test_benzene_is_a_ring_of_six_with_six_hydrogens(tmp_path: Path) -> None:
    scene = loaded(tmp_path, benzene()).styled(style="licorice")
    assert lengths(scene) == pytest.approx([1.084] * 6 + [1.397] * 6, abs=1e-3)
    assert scene.spheres[0].radius == pytest.approx(0.25 * COVER)


def test_a_periodic_crystal_has_six_neighbours_for_each_atom(tmp_path: Path) -> None:
    scene = loaded(tmp_path, SALT).styled(bonds="auto")
    # 24 bonds, 12 of them through a side of the box as two halves
    assert scene.capsule_count == 12 + 2 * 12
    assert lengths(scene) == pytest.approx([1.41] * 24 + [2.82] * 12, abs=1e-5)
    ends = np.concatenate(
        [np.concatenate([c.start.centers, c.end.centers]) for c in scene.capsules]
    )
    assert ends.min() == pytest.approx(-1.41)
    assert ends.max() == pytest.approx(5.64 - 2.82 + 1.41)
    repeated = loaded(tmp_path, SALT).styled(bonds="auto", replicate=(2, 2, 2))
    assert repeated.capsule_count == 8 * 24 + 6 * 8


def test_bonds_of_the_file_take_the_nearest_image(tmp_path: Path) -> None:
    scene = loaded(tmp_path, CHAIN, "chain.data").styled(style="wire")
    assert lengths(scene) == pytest.approx([0.75, 0.75, 2.0])
    chosen = loaded(tmp_path, CHAIN, "chain.data").styled(bonds="file", select="x < 5")
    assert lengths(chosen) == pytest.approx([2.0])


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_lengths_of_bonds_are_those_in_the_scene(tmp_path: Path, scale: float) -> None:
    """A scaled molecule has longer bonds: for conditions, colours and legends."""
    scaled = raytracer.Transform(scale=scale, rotate=(30, 0, 0))
    plain = loaded(tmp_path, CHAIN, "chain.data")
    turned = raytracer.Scene([each.changed(transform=scaled) for each in plain.spheres])
    colored = turned.styled(bonds="file", bond_color={"by": "length"})
    (scale_of,) = colored.color_scales
    assert (scale_of.low, scale_of.high) == pytest.approx((1.5 * scale, 2.0 * scale))
    long = turned.styled(bonds="file", bond_select=f"length > {1.7 * scale}")
    assert lengths(long) == pytest.approx([2.0])  # of the set, before the transform


PDB = """HETATM    7  O   HOH A   1       0.000   0.000   0.117  1.00  0.00           O
HETATM    8  H1  HOH A   1       0.000   0.757  -0.469  1.00  0.00           H
HETATM    9  H2  HOH A   1       0.000  -0.757  -0.469  1.00  0.00           H
CONECT    7    8
CONECT    8    7
END
"""


def test_records_conect_of_a_pdb_file(tmp_path: Path) -> None:
    scene = loaded(tmp_path, PDB, "water.pdb")
    assert lengths(scene.styled(bonds="auto")) == pytest.approx([0.957], abs=1e-3)
    assert scene.styled(bonds="distance").capsule_count == 2
    few = loaded(tmp_path, PDB.replace("CONECT    7    8\nCONECT    8    7\n", ""), "few.pdb")
    with pytest.raises(SceneError, match="holds no bonds"):
        few.styled(bonds="file")


@pytest.mark.parametrize(
    ("bonds", "count"),
    [
        (1.0, 4), (1.6, 6), ("1.6", 6), ("none", 0), (False, 0), (True, 4), ("distance", 4),
        ({"O-H": 1.1}, 4), ("H-H=1.6", 2), ("O-H=1.1, H-H=1.6", 6), ({"O-O": 3.0}, 1),
    ],
)  # fmt: skip
def test_bonds_by_length_and_pairs(tmp_path: Path, bonds: Any, count: int) -> None:
    assert loaded(tmp_path, WATER).styled(bonds=bonds).capsule_count == count


def test_space_filling_has_no_bonds_and_styles_take_turns(tmp_path: Path) -> None:
    scene = loaded(tmp_path, WATER)
    full = scene.styled(style="ball-and-stick").styled(style="space-filling")
    assert full.capsule_count == 0
    radii = full.spheres[0].radius
    assert isinstance(radii, np.ndarray)
    assert radii[0] == pytest.approx(1.52, rel=0.02)
    back = full.styled(style="licorice", bond_radius=0.1, bond_color="red")
    assert back.capsule_count == 4
    assert back.spheres[0].radius == pytest.approx(0.1 * COVER)
    assert back.capsules[0].start.color.tolist() == [[1.0, 0.0, 0.0]]
    assert not back.capsules[0].has_end_colors


def test_bonds_follow_the_colours_of_their_atoms(tmp_path: Path) -> None:
    scene = loaded(tmp_path, WATER).styled(style="ball-and-stick").styled(color_by="z")
    (bonds,) = scene.capsules
    assert len(bonds.start.color) > 2
    image = raytracer.render(
        loaded(tmp_path, WATER), style="wire", color="red", width=32, height=24, samples=1,
        backend="cpu", aovs=("albedo",),
    )  # fmt: skip
    albedo = image.film.aovs["albedo"].reshape(-1, 3)
    assert (albedo[albedo.any(axis=1)] == [1.0, 0.0, 0.0]).all()


def brute_force(points: Array, longest: float, edges: Array, periodic: list[bool]) -> set[Any]:
    steps = [range(-2, 3) if each else range(1) for each in periodic]
    found = set()
    for shift in product(*steps):
        apart = points[None] + np.array(shift) @ edges - points[:, None]
        distance = np.linalg.norm(apart, axis=-1)
        for i, j in zip(*np.nonzero((distance <= longest) & (distance > 0)), strict=True):
            if i < j or (i == j and shift > (0, 0, 0)):
                found.add((int(i), int(j), *shift))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_close_pairs_are_those_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = rng.normal(size=(3, 3)) * rng.uniform(0.5, 3)
    periodic = [bool(each) for each in rng.integers(0, 2, 3)]
    points = np.ascontiguousarray(rng.uniform(-0.3, 1.3, (40, 3)) @ edges)
    longest = rng.uniform(0.1, 0.35) / np.linalg.norm(np.linalg.inv(edges), axis=0).max()
    kinds, box = np.zeros(40, np.int32), np.vstack([np.zeros((1, 3)), edges])
    found = _core.close_pairs(points, kinds, np.array([[longest]]), box, periodic, 2)
    assert set(map(tuple, found.tolist())) == brute_force(points, longest, edges, periodic)
    one = _core.close_pairs(points, kinds, np.array([[longest]]), box, periodic, 1)
    assert one.tolist() == found.tolist()


def test_bonds_have_the_opacity_and_the_material_of_their_atoms(tmp_path: Path) -> None:
    scene = loaded(tmp_path, benzene()).styled(style="licorice")
    faint = scene.styled(opacity=0.3)
    assert faint.capsules[0].start.opacity == pytest.approx(0.3)
    half = scene.styled(opacity="1 if element == 'C' else 0.2")
    assert np.unique(np.asarray(half.capsules[0].start.opacity)) == pytest.approx([0.2, 1.0])
    from raytracer.rendering.view_settings import ViewSettings

    gold = ViewSettings(material="gold", opacity=0.5).apply_to(scene)
    assert gold.capsules[0].material == "gold"
    assert gold.capsules[0].start.opacity == 0.5


def conect(orders: list[int]) -> str:
    """Return ethane, ethene or ethyne and others as a PDB file: C-C bonds of some orders."""
    lines = []
    for index, order in enumerate(orders):
        places = [("C", 0.0, 0.0), ("C", 1.4, 0.0), ("H", -0.6, 0.9), ("H", 2.0, -0.9)]
        first = 4 * index + 1
        for k, (symbol, x, z) in enumerate(places):
            lines.append(
                f"HETATM{first + k:5d}  {symbol:<3s} MOL A   1    "
                f"{x:8.3f}{9.0 * index:8.3f}{z:8.3f}  1.00  0.00          {symbol:>2s}"
            )
        pairs = [(0, 1, order), (0, 2, 1), (1, 3, 1)]
        for one, other, count in pairs:
            for a, b in ((one, other), (other, one)):
                lines.append(f"CONECT{first + a:5d}" + f"{first + b:5d}" * count)
    return "\n".join([*lines, "END", ""])


def test_double_and_triple_bonds_are_sticks_in_the_plane_of_the_neighbours(tmp_path: Path) -> None:
    plain = loaded(tmp_path, conect([1, 2, 3]), "a.pdb")
    (sticks,) = plain.styled(style="ball-and-stick").capsules
    assert sticks.count == 1 + 2 + 3 + 6
    (single,) = plain.styled(style="ball-and-stick", bond_orders=False).capsules
    assert single.count == 9
    for index, order in enumerate((1, 2, 3)):
        mine = np.isclose(sticks.starts[:, 1], 9.0 * index)
        spans = sticks.ends - sticks.starts
        along = mine & (np.abs(spans[:, 2]) < 1e-3) & (np.abs(spans[:, 0]) > 1.3)
        heights = np.sort(sticks.starts[along, 2])
        # The hydrogens lie in the plane of x and z, so do the sticks, on both sides of the axis.
        assert len(heights) == order
        assert heights == pytest.approx(-heights[::-1], abs=1e-6)
        radii = np.asarray(sticks.radius)[along]
        assert (np.diff(heights) > 2 * radii[0]).all()
        assert sticks.ends[along, 1] == pytest.approx(9.0 * index)


def test_bonds_are_chosen_and_coloured_by_their_values(tmp_path: Path) -> None:
    plain = loaded(tmp_path, conect([1, 2, 3]), "a.pdb")
    rule = {"by": "order", "map": "viridis"}
    scene = plain.styled(style="wire", bond_select="element1 == 'C' and element2 == 'C'",
                         bond_color=rule, bond_orders=False)  # fmt: skip
    (bonds,) = scene.capsules
    assert bonds.count == 3
    assert bonds.start.color_id is not None
    assert len(set(bonds.start.color_id.tolist())) == 3
    (scale,) = scene.color_scales
    assert (scale.label, scale.low, scale.high) == ("order", 1.0, 3.0)
    assert len(scene.styled(bonds="none").color_scales) == 0
    short = plain.styled(bonds="auto", bond_select="length < 1.2")
    assert lengths(short) == pytest.approx([1.0817] * 6, abs=1e-3)
    with pytest.raises(SceneError, match="bond_select: 'length' is not a condition"):
        plain.styled(bonds="auto", bond_select="length")
    with pytest.raises(SceneError, match="'ordr' is neither a colour nor a column"):
        plain.styled(bonds="auto", bond_color={"by": "ordr"})


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
