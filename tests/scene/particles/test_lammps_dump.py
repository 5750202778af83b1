"""Dump files of LAMMPS: every style of coordinates, every box, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer import RaytracerWarning, load
from raytracer.scene.elements import find
from raytracer.scene.particles.read import frame_count, read, source_of
from support.particle_files import complaint, refusal, write

RNG = np.random.default_rng(11)
INSIDE = RNG.uniform(size=(7, 3))

HEAD = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{count}\n{box}ITEM: ATOMS {columns}\n"
ORTHOGONAL = "ITEM: BOX BOUNDS pp pp ff\n-1.5 2.5\n0 3\n1 9\n"
TRICLINIC = "ITEM: BOX BOUNDS xy xz yz pp pp pp\n-2 5.5 1.0\n-0.5 4 -1.5\n0 5 0.75\n"
GENERAL = "ITEM: BOX BOUNDS abc origin pp pp pp\n4 0.5 0 -1\n0 3 1 2\n0.25 0 5 3\n"


def dump(columns: str, rows: list[str], box: str = ORTHOGONAL, count: int | None = None) -> str:
    head = HEAD.format(count=len(rows) if count is None else count, box=box, columns=columns)
    return head + "".join(f"{row}\n" for row in rows)


def rows_of(points: np.ndarray, before: str = "") -> list[str]:
    return [f"{before}{x!r} {y!r} {z!r}" for x, y, z in points.tolist()]


@pytest.mark.parametrize("axes", ["x y z", "xu yu zu"])
def test_coordinates_are_those_of_the_file(tmp_path: Path, axes: str) -> None:
    path = write(tmp_path / "a.dump", dump(axes, rows_of(INSIDE)))
    np.testing.assert_array_equal(read(path).centers, INSIDE)


@pytest.mark.parametrize("axes", ["xs ys zs", "xsu ysu zsu"])
@pytest.mark.parametrize(
    ("box", "origin", "edges"),
    [
        (ORTHOGONAL, (-1.5, 0, 1), ((4, 0, 0), (0, 3, 0), (0, 0, 8))),
        # xlo = xlo_bound - min(0, xy, xz, xy + xz), and so on (LAMMPS, "Howto triclinic").
        (TRICLINIC, (-0.5, -0.5, 0), ((5, 0, 0), (1, 3.75, 0), (-1.5, 0.75, 5))),
        (GENERAL, (-1, 2, 3), ((4, 0.5, 0), (0, 3, 1), (0.25, 0, 5))),
    ],
)
def test_scaled_coordinates(
    tmp_path: Path, axes: str, box: str, origin: tuple[float, ...], edges: tuple[tuple[float, ...]]
) -> None:
    path = write(tmp_path / "a.lammpstrj", dump(f"id {axes}", rows_of(INSIDE, "3 "), box))
    np.testing.assert_allclose(read(path).centers, INSIDE @ np.array(edges) + origin, rtol=1e-14)
    with source_of(path) as source:
        assert source.box is not None
        np.testing.assert_allclose(source.box.edges, edges)
        np.testing.assert_allclose(source.box.origin, origin)


@pytest.mark.parametrize("box", [ORTHOGONAL, TRICLINIC])
def test_scaled_coordinates_are_those_of_ase(tmp_path: Path, box: str) -> None:
    ase = pytest.importorskip("ase.io")
    path = write(tmp_path / "a.dump", dump("id type xs ys zs", [
        f"{i} 1 {row}" for i, row in enumerate(rows_of(INSIDE), 1)
    ], box))  # fmt: skip
    atoms = ase.read(path, format="lammps-dump-text")
    # ASE leaves out the origin of the box.
    with source_of(path) as source:
        assert source.box is not None
        origin = np.array(source.box.origin)
        np.testing.assert_allclose(np.array(source.box.edges), atoms.cell[:], rtol=1e-12)
    centers = read(path).centers
    shift = atoms.get_positions() - centers
    assert np.allclose(shift, 0.0) or np.allclose(shift, -origin)


def test_a_file_of_chemfiles(tmp_path: Path) -> None:
    chemfiles = pytest.importorskip("chemfiles")
    frame = chemfiles.Frame()
    frame.cell = chemfiles.UnitCell([10.0, 11.0, 12.0])
    points = np.round(RNG.uniform(0, 10, (5, 3)), 4)
    for point in points:
        frame.add_atom(chemfiles.Atom("Cu", "1"), point.tolist())
    path = tmp_path / "a.lammpstrj"
    with chemfiles.Trajectory(str(path), "w", "LAMMPS") as file:
        file.write(frame)
        file.write(frame)
    with pytest.warns(RaytracerWarning, match="more frames follow"):
        scene = load(path)
    np.testing.assert_allclose(scene.spheres[0].centers, points, atol=1e-4)
    assert frame_count(path) == 2


def test_radii_types_and_elements(tmp_path: Path) -> None:
    rows = ["1 0 0 0 0.5", "2 1 0 0 0.25"]
    sized = read(write(tmp_path / "a.dump", dump("type x y z radius", rows)))
    np.testing.assert_array_equal(sized.radius, [0.5, 0.25])
    assert sized.color is not None
    assert len(sized.color) == 2
    grains = read(write(tmp_path / "b.dump", dump("type x y z diameter", rows)))
    np.testing.assert_array_equal(grains.radius, [0.25, 0.125])
    atoms = write(tmp_path / "c.dump", dump("id type element x y z", [
        "1 1 O 0 0 0", "2 2 H 1 0 0",
    ]))  # fmt: skip
    data = read(atoms)
    np.testing.assert_array_equal(data.radius, [find("O").radius, find("H").radius])


def test_types_are_no_elements(tmp_path: Path) -> None:
    """Of type 1 and 6 neither is an element, though both are atomic numbers."""
    path = write(tmp_path / "a.dump", dump("type x y z", ["1 0 0 0", "6 1 0 0", "8 2 0 0"]))
    data = read(path)
    assert data.radius is not None
    assert len(set(np.asarray(data.radius))) == 1
    assert data.radius[0] != find("H").radius
    assert data.notes == []
    elements = read(path, meaning="elements")
    np.testing.assert_array_equal(elements.radius, [find(n).radius for n in "HCO"])


def test_labels_of_types(tmp_path: Path) -> None:
    path = write(tmp_path / "a.dump", dump("type x y z", ["wall 0 0 0", "grain 1 0 0"]))
    assert load(path).count == 2


def test_other_columns_of_an_atom(tmp_path: Path) -> None:
    rows = ["7 2 C 0.5 0 0 -1 1.5e2", "3 1 N 0.25 1 1 0 2"]
    path = write(tmp_path / "a.dump", dump("id type element xs ys zs ix c_pe", rows))
    found = load(path).describe(1)
    assert found.values == {"id": 3, "type": 1, "element": "N", "ix": 0, "c_pe": 2}
    assert found.position[0] == -0.5


def test_own_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.dump", dump("x y z vx vy vz c_r", ["0 0 0 1 2 3 0.5"]))
    data = read(path, {"x": "vx", "y": "vy", "z": "vz", "radii": "c_r"})
    np.testing.assert_array_equal(data.centers, [[1, 2, 3]])
    np.testing.assert_array_equal(data.radius, [0.5])


def test_units_and_time_before_the_frame(tmp_path: Path) -> None:
    text = "ITEM: UNITS\nmetal\nITEM: TIME\n0.5\n" + dump("id x y z", ["1 1 2 3"])
    np.testing.assert_array_equal(read(write(tmp_path / "dump.0", text)).centers, [[1, 2, 3]])


def test_the_content_decides(tmp_path: Path) -> None:
    for name in ("a.xyz", "dump.melt", "a", "a.txt"):
        path = write(tmp_path / name, dump("x y z", ["1 2 3"]))
        assert load(path).count == 1


GOOD = dump("id x y z", ["1 1 2 3", "2 4 5 6"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (GOOD.replace("ATOMS\n2", "ATOMS\n3"), ["line 4 says 3 atoms, but there are 2"]),
        (GOOD.replace("ATOMS\n2", "ATOMS\ntwo"), ["line 4: 'two' is not the number of atoms"]),
        (GOOD.replace("4 5 6", "4 5 six"), ["line 11, column 'z': 'six' is not a number"]),
        (GOOD.replace("4 5 6", "4 5"), ["line 11: too few columns"]),
        (GOOD.replace("id x y z", "id vx vy vz"), ["no columns x, y and z", "'vx'"]),
        (GOOD.replace("id x y z", "id x y x"), ["line 9: the column 'x' stands there twice"]),
        (GOOD.replace("ITEM: ATOMS id x y z", "ITEM: ENTRY"), ["no line 'ITEM: ATOMS'"]),
        (GOOD.replace("id x y z", ""), ["line 9: the section names no columns"]),
        (dump("xs ys zs", ["0 0 0"], ""), ["scaled, but there is no line 'ITEM: BOX BOUNDS'"]),
        (dump("xs ys zs", ["0 0 0"], ORTHOGONAL.replace("0 3", "0 b")), ["line 7: '0 b' is not a"]),
        (dump("xs ys zs", ["0 0 0"], ORTHOGONAL.replace("0 3", "0")), ["line 6: a box has two or"]),
        (dump("x y z", ["nan 0 0"]), ["sphere 0 lies at (nan, 0, 0)"]),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, text: str, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(write(tmp_path / "a.dump", text), capsys)
    for part in parts:
        assert part in said


@given(st.text(st.sampled_from("ITEM:ATOS BUNDxyzsu\n 0123.-e"), max_size=300), st.integers(0, 200))
def test_any_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str, at: int
) -> None:
    content = GOOD[: at % len(GOOD)] + text + GOOD[at % len(GOOD) :]
    path = write(tmp_path_factory.mktemp("fuzz") / "a.dump", content)
    said = complaint(path)
    assert said == "" or said.startswith(str(path))
