"""Where the rows of a text begin and end, and which columns are coordinates."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.config.errors import DataFileError
from raytracer.model import particle_names as naming
from raytracer.model.data_file import DataFile
from raytracer.model.particle_source import Particles
from raytracer.particles.read import count_frames, open_source, read, read_row
from support.particle_files import write

POINTS = np.array([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5], [6.5, 7.5, 8.5], [9.5, 1.25, 2.25]])
ROWS = "".join(f"{x} {y} {z} {n}\n" for n, (x, y, z) in enumerate(POINTS.tolist(), 1))


def notes_of(particles: Particles) -> str:
    return " ".join(note for _, note in particles.notes)


FEW = "".join(ROWS.splitlines(keepends=True)[:2])
LINES = ROWS.splitlines()
BARE = [line[:-2] for line in LINES]  # without their numbers
NOT_FLAT = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 2, 4]]
LISTS = [*zip("xyz", POINTS.T.tolist(), strict=True), ("radius", [1.0, 2.0, 3.0, 4.0])]


def joined(form: str, points: Any = POINTS, between: str = "\n") -> str:
    return between.join(form.format(*point) for point in points.tolist())


def on_one_line(text: str, count: int) -> tuple[str, Any, str]:
    """Rows in the brackets of a text, in which `{0}` is the rows."""
    opening, closing = (part.replace("{{", "{").replace("}}", "}") for part in text.split("{0}"))
    points = np.resize(POINTS, (count, 3))
    rows = joined("{0}, {1}, {2}", points, f"{closing[0]}, {opening[-1]}")
    return text.format(rows), points, ""


TEXTS: list[tuple[str, Any, str]] = [
    # text after the rows, or above them
    *((f"{names}{ROWS}{end}\n", POINTS, f"left out, from '{end.strip().splitlines()[0]}' on")
      for names in ("x y z id\n", "")
      for end in ("Total 4\n", "\nmean 2 of 4 particles\ndone\n", "END", ")\n);\n")),
    *(("".join(f"{line}\n" for line in LINES[:count]) + f"Total {count}\n", POINTS[:count],
       f"left out, from 'Total {count}' on") for count in (1, 2, 3)),
    (f"2 0.0\n{FEW}4 0.5\n{ROWS}", POINTS,
     "the lines above the rows are left out, from '0.5 1.5 2.5 1' on"),
    (f"# x y z id\n# made by hand\n# x y z id\n{ROWS}", POINTS, ""),
    (ROWS + "\n\n" + ROWS + "\n\n" + ROWS, np.tile(POINTS, (3, 1)),
     "the rows of 3 parts are shown together"),
    (3 * f"# x y z id\n{ROWS}", np.tile(POINTS, (3, 1)), "the rows of 3 parts are shown together"),
    # names of columns
    *((head + ROWS, POINTS, "") for head in (
        "# column 1: x\n# column 2: y\n# column 3: z\n# column 4: id\n",
        "# 1 x\n# 2 y\n# 3 z\n# 4 id\n",
        "loop_\n_rlnCoordinateX #1\n_rlnCoordinateY #2\n_rlnCoordinateZ #3\n_rlnId #4\n",
        '"x"\n"y"\n"z"\n"id"\n', "# 1:x 2:y 3:z 4:id\n", "# x1 x2 x3 id\n",
        "Particle_Center_X Particle_Center_Y Particle_Center_Z id\n",
        "# [1 x] [2 y] [3 z] [4 id]\n")),
    ("y,x,size\n1,2,3\n4,5,6\n", [[2, 1, 0], [5, 4, 0]], "there is no column z"),
    # without names: what counts the rows, and other integers; the last is of MacroModel
    ("\n".join(f"{n} {line}" for n, line in enumerate(LINES)), POINTS,
     "columns 2, 3 and 4 are taken as x, y and z"),
    ("".join(f"{x} 0 0 0.5\n" for x in range(5)), [[x, 0, 0] for x in range(5)], "columns 1, 2"),
    (joined(" 3  2 1  14 1  {0} {1} {2}  0 0.5\n", between=""), POINTS, ""),
    # rows in brackets, and lists
    *((call + joined(form), POINTS, "") for call in ("points = ", "points = np.array(")
      for form in ("({0}, {1}, {2})", "[{0} {1} {2}]", "{{{0}, {1}, {2}}},")),
    *(on_one_line(text, count) for count in (2, 4, 4000) for text in (
        "points = [[{0}]]", "[({0})]", "{{{{{0}}}}};", "points = np.array([[{0}]])", "<{0}>")),
    *(("".join(form.format(name, ", ".join(map(str, values))) for name, values in LISTS), POINTS,
       "") for form in ("{0} = [{1}]\n", "{0} = np.array([{1}]); ", "'{0}': ({1}), ")),
    (str({"pos": POINTS.tolist(), "vel": (-POINTS).tolist()}), POINTS, ""),
    # rows that begin with axes are no variables, of which each has as many values, two at least
    ("label,x,y,z\nx,1,2,3\ny,4,5,6\nz,7,8,9\nx,1,2,4\n", NOT_FLAT, ""),
]  # fmt: skip


@pytest.mark.parametrize("ending", ["txt", "csv"])
@pytest.mark.parametrize(("text", "points", "said"), TEXTS, ids=[row[0][:30] for row in TEXTS])
def test_rows(tmp_path: Path, text: str, points: Any, said: str, ending: str) -> None:
    particles = read(write(tmp_path / f"a.{ending}", text))
    np.testing.assert_array_equal(particles.centers, points)
    assert said in notes_of(particles)
    if "radius" in text:
        np.testing.assert_array_equal(particles.radius, [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        *(("a.dat", f"x y z id\n{ROWS}{last}", "line 6")
          for last in ("7.5 8", "7.5 8\n", "7.5 8.", "7.5 8.5 o 4", "7 o 9 4\n")),
        ("a.dat", f"x y z id\n{ROWS}x y z id\n{ROWS}", "line 6, column 'x': 'x' is not a number"),
        *(("a.dat", f"{first}{mark}x y z id\n{FEW}4 0.5\n{mark}x y z id\n{ROWS}",
           f"line {4 + bool(first)}") for mark in ("", "# ") for first in ("", "2 0.0\n")),
        ("a.csv", "x,y,z\n1,2,3\n4,,6\n7,8,9\n", "line 3, column 'y': there is no value"),
        ("a.csv", "x,y,z\n1,2,three\n4,5,6\n7,8,9\n",
         "line 2, column 'z': 'three' is not a number"),
        ("a.inchi", "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7,8,9,10,11\n",
         r"files ending in '\.inchi' cannot be read"),
        ("a.csv", "theta,phi,r\n1,2,3\n4,5,6\n", "there are no columns x, y and z"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(DataFileError, match=said):
        read(write(tmp_path / name, text))


@pytest.mark.parametrize("missing", ["nan nan nan 7", "NA NA NA 7"])
def test_rows_without_coordinates_are_left_out(tmp_path: Path, missing: str) -> None:
    text = "\n".join(["x y z id", missing, LINES[0], missing, *LINES[1:]])
    path = write(tmp_path / "a.dat", text)
    particles = read(path)
    np.testing.assert_array_equal(particles.centers, POINTS)
    assert "rows without coordinates are left out: 2" in notes_of(particles)
    assert [read_row(DataFile(path), row, 4)["id"] for row in range(4)] == [1, 2, 3, 4]


RNG = np.random.default_rng(29)


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize(
    ("mass", "low", "is_known"),
    [(0.05, -1.0, True), (0.05, 0.0, True), (None, -1.0, True), (None, 0.0, False)],
)
def test_masses_before_coordinates(
    tmp_path: Path, mass: float | None, low: float, is_known: bool, numbered: bool
) -> None:
    """Bodies: mass, coordinates, velocity. It is not known of masses before a corner of space."""
    places, speeds = RNG.uniform(low, 1.0, (20, 3)), RNG.normal(size=(20, 3))
    masses = RNG.uniform(0.5, 2.0, 20) if mass is None else np.full(20, mass)
    rows = np.column_stack([masses, places, speeds])
    lines = [" ".join(map(repr, row)) for row in rows.tolist()]
    text = "\n".join(f"{n} {line}" if numbered else line for n, line in enumerate(lines, 1))
    path = write(tmp_path / "a.txt", text)
    particles = read(path)
    expected = places if is_known else rows[:, :3]
    np.testing.assert_array_equal(particles.centers, expected)
    first = 2 + numbered
    sentence = f"column {first - 1} as the mass" if is_known else f"x={first},y={first + 1}"
    assert sentence in notes_of(particles)
    row = read_row(DataFile(path), 3, 20)
    if is_known:
        assert [row[name] for name in ("mass", "vx", "vy", "vz")] == [masses[3], *speeds[3]]


@pytest.mark.parametrize("rows", [
    np.column_stack([np.full(20, 0.5), RNG.normal(size=(20, 5)), RNG.uniform(1, 2, 20)]),
    np.column_stack([RNG.normal(size=(20, 6)), RNG.uniform(1, 2, 20)]),
    np.column_stack([RNG.uniform(1, 2, (20, 4)), RNG.normal(size=(20, 3))]),
])  # fmt: skip
def test_coordinates_before_masses(tmp_path: Path, rows: np.ndarray) -> None:
    """A layer, a cloud, and masses behind coordinates."""
    np.savetxt(tmp_path / "a.txt", rows, "%.17g")
    np.testing.assert_array_equal(read(tmp_path / "a.txt").centers, rows[:, :3])


@pytest.mark.parametrize(
    "stem", ["Velocity_{}", "Max Position {}", "bounding box center {}", "force {}", "n{}"]
)
def test_vectors_that_are_no_places(stem: str) -> None:
    assert naming.find_usual_name("x", [stem.format(axis) for axis in "XYZ"]) is None


@pytest.mark.parametrize(
    "stem", ["CenterOfMass{}", "P[{}]", "Barycenter.{}", "object center {} (m)"]
)
def test_places(stem: str) -> None:
    names = [stem.format(axis) for axis in "XYZ"]
    assert [naming.find_usual_name(axis, ["id", *names]) for axis in "xyz"] == names


def test_the_ends_of_capsules_are_no_places() -> None:
    names = [f"{axis}{end}" for end in "12" for axis in "xyz"]
    assert [naming.find_usual_name(axis, names) for axis in "xyz"] == [None] * 3


# Rows of several times, and of other programs

TRACKS = "".join(f"{n},{t},{x + t},{y},{z}\n" for t in range(3)
                 for n, (x, y, z) in enumerate(POINTS.tolist()))  # fmt: skip


@pytest.mark.parametrize(
    ("names", "sentence"),
    [("n,frame,x,y,z", "rows with 3 values of 'frame' are shown together"), ("n,m,x,y,z", "")],
)
def test_detections_at_several_times_are_mentioned(
    tmp_path: Path, names: str, sentence: str
) -> None:
    particles = read(write(tmp_path / "a.csv", f"{names}\n{TRACKS}"))
    assert len(particles.centers) == 12
    assert notes_of(particles).endswith(sentence and "for one give --select 'frame == 0'")
    assert sentence in notes_of(particles)


PROGRAMS = {
    "fluent": '(z=4 4)\n("x" "y" "z" "u")\n' + "".join(f"(({line}) inj:0)\n" for line in LINES),
    "tetgen": "4 3 0 0\n" + "".join(f"{n} {line}\n" for n, line in enumerate(BARE, 1)),
    "colmap": "# ID, X, Y, Z, TRACK[] as (A, B)\n" + "".join(
        f"{n} {line}{' 1 2' * n}\n" for n, line in enumerate(BARE, 1)),
    "cp2k": "&CELL\n ABC 9 9 9\n&END CELL\n" + "".join(f" O {line}\n" for line in BARE),
    "abaqus": "*NODE, NSET=ALL\n" + "".join(f"{n}, {line.replace(' ', ', ')}\n"
                                            for n, line in enumerate(BARE, 1)),
    "german": "Nr.;X-Wert;Y-Wert;Z-Wert\n" + "".join(f"{n};{line.replace(' ', ';')}\n"
                                                     for n, line in enumerate(BARE, 1)),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("ending", ["txt", "unknown"])
def test_rows_of_other_programs(tmp_path: Path, program: str, ending: str) -> None:
    particles = read(write(tmp_path / f"a.{ending}", PROGRAMS[program]))
    np.testing.assert_array_equal(particles.centers, POINTS)


@pytest.mark.parametrize("types", [("wall", "grain"), ("A", "B"), ("C", "O"), ("H", "X")])
@pytest.mark.parametrize("ending", ["txt", "unknown"])
def test_rows_sorted_by_types_are_all_there(
    tmp_path: Path, types: tuple[str, str], ending: str
) -> None:
    text = "".join(f"{kind} {line}\n" for kind in types for line in [*ROWS.splitlines()] * 2)
    particles = read(write(tmp_path / f"a.{ending}", text))
    np.testing.assert_array_equal(particles.centers, np.tile(POINTS, (4, 1)))
    assert particles.labels is not None
    assert particles.labels.names == list(types)


@pytest.mark.parametrize("form", [
    '<Spot POSITION_X="{0}" POSITION_Y="{1}" POSITION_Z="{2}" RADIUS="0.5" FRAME="{3}"/>',
    "<p><x>{0}</x><y>{1}</y><z>{2}</z><radius>0.5</radius><time>{3}</time></p>"
])  # fmt: skip
def test_elements_of_xml(tmp_path: Path, form: str) -> None:
    rows = "".join(form.format(*point, n // 2) for n, point in enumerate(POINTS.tolist()))
    particles = read(write(tmp_path / "a.xml", f'<?xml version="1.0"?>\n<a b="1">{rows}</a>\n'))
    np.testing.assert_array_equal(particles.centers, POINTS)
    np.testing.assert_array_equal(particles.radius, [0.5] * 4)
    assert "rows with 2 values of" in notes_of(particles)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("separator", [",", ", ", ";", "\t"])
def test_rows_that_are_variables(tmp_path: Path, separator: str) -> None:
    """Results of EDEM: a row for each query, the rows of each time below it."""
    text = "EDEM results data\nDeck: a.dem\n"
    for time in (0.5, 0.75):
        text += f"\nTIME:{separator}{time}\n"
        rows: list[tuple[str, Any]] = [("Q01 : Particle ID", range(4))]
        rows += [(f"Q0{n + 2} : Particle Position {axis}", POINTS[:, n] + time)
                 for n, axis in enumerate("XYZ")]  # fmt: skip
        rows += [("Q05 : Particle Radius", [0.5, 1, 1.5, 2])]
        text += "".join(f"{name}:{separator}{separator.join(map(str, values))}\n"
                        for name, values in rows)  # fmt: skip
    path = write(tmp_path / "a.csv", text)
    assert count_frames(path) == 2
    particles = read(DataFile(path, frame=1))
    np.testing.assert_allclose(particles.centers, POINTS + 0.75)
    np.testing.assert_array_equal(particles.radius, [0.5, 1, 1.5, 2])
    assert particles.time is not None
    assert particles.time.value == 0.75


@pytest.mark.parametrize("count", [2, 4])
def test_atoms_for_multislice_programs(tmp_path: Path, count: int) -> None:
    """Of Kirkland and Prismatic: the last line is no atom."""
    pytest.importorskip("ase")
    rows = "".join(f"{place + 6} {x} {y} {z} 1.00 0.085\n"
                   for place, (x, y, z) in enumerate(POINTS[:count].tolist()))  # fmt: skip
    path = write(tmp_path / "a.xyz", f"Gold, zone axis 001\n 4 5 6.5\n{rows}-1\n")
    with open_source(path) as source:
        assert source.box is not None
        np.testing.assert_array_equal(source.box.edges, np.diag([4, 5, 6.5]))
        assert all(source.box.periodic)
    particles = read(path)
    np.testing.assert_array_equal(particles.centers, POINTS[:count])
    assert particles.labels is not None
    assert particles.labels.names == ["C", "N", "O", "F"][:count]


@pytest.mark.parametrize("first", [0, 1])
def test_a_row_that_states_the_number_of_counted_rows_is_none(tmp_path: Path, first: int) -> None:
    """As in files of nodes: their number, dimensions and numbers of attributes come first."""
    rows = "".join(f"{n} {x} {y} {z}\n" for n, (x, y, z) in enumerate(POINTS.tolist(), first))
    data = read(write(tmp_path / "a.txt", f"4 3 0 0\n{rows}"))
    np.testing.assert_array_equal(data.centers, POINTS)
