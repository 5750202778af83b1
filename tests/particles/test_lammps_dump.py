"""Dump files of LAMMPS: every style of coordinates, every box, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from raytracer.commands.cli import main
from raytracer.model.data_file import DataFile
from raytracer.model.elements import Element, find_element
from raytracer.particles.formats.lammps_dump import UNITS
from raytracer.particles.read import open_source, read
from support.particle_files import complaint, write

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
    with open_source(path) as source:
        assert source.box is not None
        np.testing.assert_allclose(source.box.edges, edges)
        np.testing.assert_allclose(source.box.origin, origin)


@pytest.mark.parametrize(
    ("kinds", "periodic"),
    [
        ("pp ff ss", (True, False, False)),
        ("fs pp mm", (False, True, False)),
        ("ps sp pp", (False, False, True)),
        ("fp ms pm", (False, False, False)),
    ],
)
@pytest.mark.parametrize("before", ["", "xy xz yz "])
def test_edges_are_periodic_where_both_sides_are(
    tmp_path: Path, kinds: str, periodic: tuple[bool, bool, bool], before: str
) -> None:
    tilts = iter((" 0.5", " 0.25", " -0.5") if before else ("", "", ""))
    rows = "".join(f"0 9{next(tilts)}\n" for _ in range(3))
    box = f"ITEM: BOX BOUNDS {before}{kinds}\n{rows}"
    path = write(tmp_path / "a.dump", dump("id x y z", rows_of(INSIDE, "3 "), box))
    with open_source(path) as source:
        assert source.box is not None
        assert source.box.periodic == periodic


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
    np.testing.assert_array_equal(data.radius, [find_element("O").radius, find_element("H").radius])


@pytest.mark.parametrize(("name", "factor"), [("radius", 1.0), ("diameter", 0.5)])
def test_points_beside_spheres(name: str, factor: float, tmp_path: Path) -> None:
    """LAMMPS writes 0 for points: they get the median, and all points a radius by distances."""
    rows = ["1 0 0 0 0.5", "2 1 0 0 0", "1 2 0 0 1.5"]
    data = read(write(tmp_path / "a.dump", dump(f"type x y z {name}", rows)))
    np.testing.assert_array_equal(data.radius, [factor * each for each in (0.5, 1.0, 1.5)])
    points = read(
        write(tmp_path / "b.dump", dump(f"type x y z {name}", ["1 0 0 0 0", "1 1 0 0 0"]))
    )
    plain = read(write(tmp_path / "c.dump", dump("type x y z", ["1 0 0 0", "1 1 0 0"])))
    np.testing.assert_array_equal(points.radius, plain.radius)
    for each, said in ((data, "get the median of the others"), (points, "from their distances")):
        assert [said in text for _, text in each.notes] == [True]
    assert "radius -1" in complaint(
        write(tmp_path / "d.dump", dump(f"type x y z {name}", [f"1 0 0 0 {-1 / factor}"]))
    )


def test_types_are_no_elements(tmp_path: Path) -> None:
    """Of type 1 and 6 neither is an element, though both are atomic numbers."""
    path = write(tmp_path / "a.dump", dump("type x y z", ["1 0 0 0", "6 1 0 0", "8 2 0 0"]))
    data = read(path)
    assert data.radius is not None
    assert len(set(np.asarray(data.radius))) == 1
    assert data.radius[0] != find_element("H").radius
    assert data.notes == []
    elements = read(path, meaning="elements")
    np.testing.assert_array_equal(elements.radius, [find_element(n).radius for n in "HCO"])


WATER = np.array([[1.0, 1.0, 1.0], [1.96, 1.0, 1.0], [1.0, 1.96, 1.0]])
ANGSTROM = {"si": 1e-10, "cgs": 1e-8, "micro": 1e-4, "nano": 0.1, "electron": 1.8897261246}
"""An angstrom in the units of length of LAMMPS."""


def of_water(units: str, kind: str, elements: bool = True) -> str:
    """Return two frames, or a data file, of a water in a box of 10 angstrom; LAMMPS states the
    units in the first frame alone."""
    unit = ANGSTROM.get(units, 1.0)
    names = "OHH" if elements else "122"
    rows = [f"{n} {name} {x!r} {y!r} {z!r}" for n, (name, (x, y, z))
            in enumerate(zip(names, (unit * WATER).tolist(), strict=True), 1)]  # fmt: skip
    if kind == "dump":
        box = "ITEM: BOX BOUNDS pp pp pp\n" + f"0 {10 * unit!r}\n" * 3
        frame = dump(f"id {'element' if elements else 'type'} x y z", rows, box)
        return f"ITEM: UNITS\n{units}\nITEM: TIME\n0.5\n{frame}ITEM: TIME\n1.5\n{frame}"
    bounds = "".join(f"0 {10 * unit!r} {axis}lo {axis}hi\n" for axis in "xyz")
    masses = "Masses\n\n1 16 # O\n2 1 # H\n\n" if elements else ""
    rows = [row.replace("O", "1").replace("H", "2") for row in rows]
    return (
        f"LAMMPS data file via write_data, timestep = 0, units = {units}\n\n3 atoms\n"
        f"2 atom types\n\n{bounds}\n{masses}Atoms # atomic\n\n" + "\n".join(rows) + "\n"
    )


@pytest.mark.parametrize("kind", ["dump", "data"])
@pytest.mark.parametrize("units", [*ANGSTROM, "metal", "real", "lj"])
def test_elements_in_other_units_than_angstrom(units: str, kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"a.{kind}", of_water(units, kind))
    for frame in (0, 1) if kind == "dump" else (None,):
        data = read(DataFile(path, frame=frame))
        np.testing.assert_allclose(data.centers, WATER, rtol=1e-9)
        np.testing.assert_array_equal(data.radius, [find_element(n).radius for n in "OHH"])
        assert data.box is not None
        np.testing.assert_allclose(data.box.edges, np.eye(3) * 10.0, rtol=1e-9)
        assert sum("are converted from" in text for _, text in data.notes) == (units in ANGSTROM)
        if frame is not None:
            assert data.time is not None
            assert data.time == (0.5 + frame, UNITS.get(units, ""))
    bare = write(tmp_path / f"b.{kind}", of_water(units, kind, elements=False))
    if kind == "dump":
        atoms = write(tmp_path / "atoms.data", of_water("metal", "data"))
        of_both = read(DataFile(bare, frame=1, topology=atoms))
        np.testing.assert_allclose(of_both.centers, WATER, rtol=1e-9)
    types = read(bare)
    np.testing.assert_allclose(types.centers, ANGSTROM.get(units, 1.0) * WATER)
    stated = read(path, elements={name: Element(0.5) for name in "OH"})  # in the unit of the file
    np.testing.assert_allclose(stated.centers, ANGSTROM.get(units, 1.0) * WATER)


GOOD = dump("id x y z", ["1 1 2 3", "2 4 5 6"])
UNKNOWN_UNITS = "are none of LAMMPS, so lengths are not converted: write lj, real, metal, si, "


@pytest.mark.parametrize(("units", "is_said"), [("lj", 0), ("real", 0), ("si", 0), ("SI", 1),
                                                ("angstrom", 1), ("metal # old", 1)])  # fmt: skip
@pytest.mark.parametrize("kind", ["dump", "yaml"])
def test_unknown_units_are_said_once(
    units: str, is_said: int, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a frame, and of a movie; they are stated in the first frame."""
    if kind == "yaml":
        pytest.importorskip("yaml")
        path = write(tmp_path / "a.yaml", "".join(
            f"---\n{stated}timestep: {step}\nkeywords: [ id, x, y, z, ]\n"
            f"data:\n  - [ 1, 1, 2, 3, ]\n  - [ 2, 4, 2, 3, ]\n...\n"
            for step, stated in enumerate([f"units: '{units}'\n", ""])
        ))  # fmt: skip
    else:
        path = write(tmp_path / "a.dump", f"ITEM: UNITS\n{units}\n{GOOD * 2}")
    for frame in (0, 1):
        notes = [text for _, text in read(DataFile(path, frame=frame)).notes]
        assert sum(f"the units '{units}' {UNKNOWN_UNITS}" in text for text in notes) == is_said
    options = ["--size", "16x12", "--samples", "1", "--backend", "cpu", "-o", f"{tmp_path}/a.gif"]
    assert main(["animate", str(path), *options]) == 0
    assert capsys.readouterr().err.count(UNKNOWN_UNITS) == is_said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("ATOMS\n2", "ATOMS\n3"), "line 4 states 3 atoms, but there are 2"),
        (GOOD.replace("4 5 6", "4 5 six"), "line 11, column 'z': 'six' is not a number"),
        (GOOD.replace("ITEM: ATOMS id x y z", "ITEM: ENTRY"), "no line 'ITEM: ATOMS'"),
        (dump("xs ys zs", ["0 0 0"], ORTHOGONAL.replace("0 3", "0 b")), "line 7: '0 b' is not a"),
        ("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS xs ys zs\n0.5 0.5 0.5\n",
         "coordinates are scaled, but there is no line 'ITEM: BOX BOUNDS'"),
        ("ITEM: TIMESTEP\n0\nITEM: GRID SIZE nx ny nz\n1 1 1\nITEM: GRID CELLS f_a\n0.5\n",
         "there is no line 'ITEM: NUMBER OF ATOMS'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    assert said in complaint(write(tmp_path / "a.dump", text))


def test_a_column_that_is_named_twice(tmp_path: Path) -> None:
    """The first counts, as in dumps of LIGGGHTS with `type` twice."""
    text = GOOD.replace("id x y z", "id x y z x")
    head, _, rows = text.partition("id x y z x\n")
    rows = "".join(f"{line} 99\n" for line in rows.splitlines())
    path = write(tmp_path / "a.dump", f"{head}id x y z x\n{rows}")
    expected = read(write(tmp_path / "b.dump", GOOD)).centers
    np.testing.assert_array_equal(read(path).centers, expected)
