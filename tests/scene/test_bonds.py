"""Bonds of known molecules and crystals, styles, and what is refused."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import _core
from raytracer.errors import SceneError
from raytracer.scene.bond_capsules import COVER
from reference.scene import Array

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
    from raytracer.scene.view_settings import ViewSettings

    gold = ViewSettings(material="gold", opacity=0.5).applied_to(scene)
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
    with pytest.raises(SceneError, match=r"bond_color\.by: there is no column 'ordr'"):
        plain.styled(bonds="auto", bond_color={"by": "ordr"})
