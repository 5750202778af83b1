"""Where the rows of a text begin and end, and which columns are coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.errors import DataFileError
from raytracer.scene.particles import naming
from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.particles.read import frame_count, read, read_row, source_of
from raytracer.scene.particles.source import Particles
from support.particle_files import write

POINTS = np.array([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5], [6.5, 7.5, 8.5], [9.5, 1.25, 2.25]])
ROWS = "".join(f"{x} {y} {z} {n}\n" for n, (x, y, z) in enumerate(POINTS.tolist(), 1))


def notes_of(particles: Particles) -> str:
    return " ".join(note for _, note in particles.notes)


@pytest.mark.parametrize("end", ["Total 4\n", "\nmean 2 of 4 particles\ndone\n", "END", ")\n);\n"])
@pytest.mark.parametrize("names", ["x y z id\n", ""])
def test_text_after_the_rows_is_left_out(tmp_path: Path, names: str, end: str) -> None:
    particles = read(write(tmp_path / "a.dat", names + ROWS + end + "\n"))
    np.testing.assert_array_equal(particles.centers, POINTS)
    assert f"left out, from '{end.strip().partition(chr(10))[0]}' on" in notes_of(particles)


@pytest.mark.parametrize("last", ["7.5 8", "7.5 8\n", "7.5 8.", "7.5 8.5 o 4", "7 o 9 4\n"])
def test_a_last_row_with_a_mistake_is_refused(tmp_path: Path, last: str) -> None:
    with pytest.raises(DataFileError, match="line 6"):
        read(write(tmp_path / "a.dat", f"x y z id\n{ROWS}{last}"))


def test_text_between_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="line 6, column 'x': 'x' is not a number"):
        read(write(tmp_path / "a.dat", f"x y z id\n{ROWS}x y z id\n{ROWS}"))


@pytest.mark.parametrize("missing", ["nan nan nan 7", "NA NA NA 7"])
def test_rows_without_coordinates_are_left_out(tmp_path: Path, missing: str) -> None:
    lines = ROWS.splitlines()
    path = write(
        tmp_path / "a.dat", "\n".join(["x y z id", missing, lines[0], missing, *lines[1:]])
    )
    particles = read(path)
    np.testing.assert_array_equal(particles.centers, POINTS)
    assert "rows without coordinates are left out: 2" in notes_of(particles)
    assert [read_row(DataFile(path), row, 4)["id"] for row in range(4)] == [1, 2, 3, 4]


def test_a_row_that_lacks_one_coordinate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="line 3, column 'y': there is no value"):
        read(write(tmp_path / "a.csv", "x,y,z\n1,2,3\n4,,6\n7,8,9\n"))


@pytest.mark.parametrize(
    "head",
    [
        "# column 1: x\n# column 2: y\n# column 3: z\n# column 4: id\n",
        "# 1 x\n# 2 y\n# 3 z\n# 4 id\n",
        "loop_\n_rlnCoordinateX #1\n_rlnCoordinateY #2\n_rlnCoordinateZ #3\n_rlnId #4\n",
        '"x"\n"y"\n"z"\n"id"\n',
        "# 1:x 2:y 3:z 4:id\n",
        "# x1 x2 x3 id\n",
        "Particle_Center_X Particle_Center_Y Particle_Center_Z id\n",
    ],
)
def test_names(tmp_path: Path, head: str) -> None:
    particles = read(write(tmp_path / "a.txt", head + ROWS))
    np.testing.assert_array_equal(particles.centers, POINTS)
    assert "no names" not in notes_of(particles)


def test_numbers_of_rows_are_no_coordinates(tmp_path: Path) -> None:
    counted = [f"{n} {line}" for n, line in enumerate(ROWS.splitlines())]
    particles = read(write(tmp_path / "a.txt", "\n".join(counted)))
    np.testing.assert_array_equal(particles.centers, POINTS)
    assert "columns 2, 3 and 4 are taken as x, y and z" in notes_of(particles)
    assert particles.labels is None


def test_many_integers_before_decimals_are_no_coordinates(tmp_path: Path) -> None:
    """As in files of MacroModel: types, numbers and orders of bonds, coordinates."""
    rows = "".join(f" 3  2 1  14 1  {x} {y} {z}  0 0.5\n" for x, y, z in POINTS.tolist())
    np.testing.assert_array_equal(read(write(tmp_path / "a.dat", rows)).centers, POINTS)


def test_one_line_of_a_text_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"files ending in '\.inchi' cannot be read"):
        read(write(tmp_path / "a.inchi", "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7,8,9,10,11\n"))


def test_points_of_a_lattice_are_not_counted(tmp_path: Path) -> None:
    rows = "".join(f"{x} 0 0 0.5\n" for x in range(5))
    particles = read(write(tmp_path / "a.txt", rows))
    np.testing.assert_array_equal(particles.centers[:, 0], range(5))


@pytest.mark.parametrize("call", ["points = ", "points = np.array("])
@pytest.mark.parametrize("form", ["({0}, {1}, {2})", "[{0} {1} {2}]", "{{{0}, {1}, {2}}},"])
def test_rows_in_brackets(tmp_path: Path, form: str, call: str) -> None:
    text = call + "\n".join(form.format(*row) for row in POINTS.tolist())
    np.testing.assert_array_equal(read(write(tmp_path / "a.txt", text)).centers, POINTS)


@pytest.mark.parametrize(
    "text", ["points = [[{0}]]", "[({0})]", "{{{{{0}}}}};", "points = np.array([[{0}]])", "<{0}>"]
)
@pytest.mark.parametrize("count", [2, 4, 4000])
def test_rows_on_one_line(tmp_path: Path, text: str, count: int) -> None:
    opening = text.replace("{{", "{").partition("{0}")[0][-1]
    closing = text.replace("}}", "}").partition("{0}")[2][0]
    points = np.resize(POINTS, (count, 3))
    rows = f"{closing}, {opening}".join(f"{x}, {y}, {z}" for x, y, z in points.tolist())
    particles = read(write(tmp_path / "a.txt", text.format(rows)))
    np.testing.assert_array_equal(particles.centers, points)


@pytest.mark.parametrize("form", ["{0} = [{1}]\n", "{0} = np.array([{1}]); ", "'{0}': ({1}), "])
def test_lists_with_names(tmp_path: Path, form: str) -> None:
    lists = [*zip("xyz", POINTS.T.tolist(), strict=True), ("radius", [1.0, 2.0, 3.0, 4.0])]
    text = "".join(form.format(name, ", ".join(map(str, values))) for name, values in lists)
    particles = read(write(tmp_path / "a.txt", text))
    np.testing.assert_array_equal(particles.centers, POINTS)
    np.testing.assert_array_equal(particles.radius, [1, 2, 3, 4])


def test_names_with_indices_are_no_rows_in_brackets(tmp_path: Path) -> None:
    text = "# [1 x] [2 y] [3 z] [4 id]\n" + ROWS
    np.testing.assert_array_equal(read(write(tmp_path / "a.txt", text)).centers, POINTS)


def test_a_dictionary_that_python_printed(tmp_path: Path) -> None:
    text = str({"pos": POINTS.tolist(), "vel": (-POINTS).tolist()})
    particles = read(write(tmp_path / "a.txt", text))
    np.testing.assert_array_equal(particles.centers, POINTS)


@pytest.mark.parametrize("mark", ["", "# "])
@pytest.mark.parametrize("first", ["", "2 0.0\n"])
def test_names_that_come_again_lose_no_rows(tmp_path: Path, mark: str, first: str) -> None:
    few = "".join(ROWS.splitlines(keepends=True)[:2])
    text = f"{first}{mark}x y z id\n{few}4 0.5\n{mark}x y z id\n{ROWS}"
    with pytest.raises(DataFileError, match=f"line {4 + bool(first)}"):
        read(write(tmp_path / "a.txt", text))


def test_names_twice_above_the_rows(tmp_path: Path) -> None:
    particles = read(write(tmp_path / "a.txt", f"# x y z id\n# made by hand\n# x y z id\n{ROWS}"))
    np.testing.assert_array_equal(particles.centers, POINTS)


def test_rows_above_the_rows_are_mentioned(tmp_path: Path) -> None:
    few = "".join(ROWS.splitlines(keepends=True)[:2])
    particles = read(write(tmp_path / "a.txt", f"2 0.0\n{few}4 0.5\n{ROWS}"))
    np.testing.assert_array_equal(particles.centers, POINTS)
    assert "the lines above the rows are left out, from '0.5 1.5 2.5 1' on" in notes_of(particles)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("ending", ["txt", "csv", "dat"])
def test_few_rows_without_names_before_text(tmp_path: Path, count: int, ending: str) -> None:
    rows = "".join(ROWS.splitlines(keepends=True)[:count])
    particles = read(write(tmp_path / f"a.{ending}", f"{rows}Total {count}\n"))
    np.testing.assert_array_equal(particles.centers, POINTS[:count])
    assert f"left out, from 'Total {count}' on" in notes_of(particles)


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
    assert naming.usual("x", [stem.format(axis) for axis in "XYZ"]) is None


@pytest.mark.parametrize(
    "stem", ["CenterOfMass{}", "P[{}]", "Barycenter.{}", "object center {} (m)"]
)
def test_places(stem: str) -> None:
    names = [stem.format(axis) for axis in "XYZ"]
    assert [naming.usual(axis, ["id", *names]) for axis in "xyz"] == names


def test_the_ends_of_capsules_are_no_places() -> None:
    names = [f"{axis}{end}" for end in "12" for axis in "xyz"]
    assert [naming.usual(axis, names) for axis in "xyz"] == [None] * 3


# Rows of several times, and of other programs

TRACKS = "".join(f"{n},{t},{x + t},{y},{z}\n" for t in range(3)
                 for n, (x, y, z) in enumerate(POINTS.tolist()))  # fmt: skip


@pytest.mark.parametrize("names", ["TrackID,frame,x,y,z", "particle,t,x,y,z",
                                   "ID,Time,Position X,Position Y,Position Z"])  # fmt: skip
def test_tracks_are_frames(tmp_path: Path, names: str) -> None:
    path = write(tmp_path / "a.csv", f"{names}\n{TRACKS}")
    assert frame_count(path) == 3
    np.testing.assert_array_equal(read(path).centers, POINTS)
    assert "has 3 frames" in notes_of(read(path))
    file = DataFile(path, frame=-1)
    particles = read(file)
    np.testing.assert_array_equal(particles.centers, POINTS + np.array([2, 0, 0]))
    assert particles.time is not None
    assert particles.time.value == 2.0
    assert read_row(file, 3, 4)[names.split(",")[0]] == 3


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


@pytest.mark.parametrize(("between", "names"), [("\n\n", ""), ("# x y z id\n", "# x y z id\n")])
def test_parts_of_a_text_are_mentioned(tmp_path: Path, between: str, names: str) -> None:
    particles = read(write(tmp_path / "a.dat", names + between.join([ROWS] * 3)))
    assert len(particles.centers) == 12
    assert "the rows of 3 parts are shown together" in notes_of(particles)


@pytest.mark.parametrize(
    "text",
    [
        f"Dimension 3\nVertices\n4\n{ROWS}Tetrahedra\n1\n1 2 3 4 1\nEnd\n",
        '(z=4 4)\n("x" "y" "z" "u")\n'
        + "".join(f"(({line}) inj:0)\n" for line in ROWS.splitlines()),
        "4 3 0 0\n" + "".join(f"{n} {line[:-2]}\n" for n, line in enumerate(ROWS.splitlines(), 1)),
        "# ID, X, Y, Z, TRACK[] as (A, B)\n" + "".join(
            f"{n} {line[:-2]}{' 1 2' * n}\n" for n, line in enumerate(ROWS.splitlines(), 1)),
        "BEGIN\n" + "".join(f"GRID,{n},,{line[:-2].replace(' ', ',')}\n"
                            for n, line in enumerate(ROWS.splitlines(), 1)) + "CTETRA,1,1,1,2,3\n",
        "&CELL\n ABC 9 9 9\n&END CELL\n"
        + "".join(f" O {line[:-2]}\n" for line in ROWS.splitlines()),
        "*NODE, NSET=ALL\n" + "".join(f"{n}, {line[:-2].replace(' ', ', ')}\n"
                                      for n, line in enumerate(ROWS.splitlines(), 1)),
        "Nr.;X-Wert;Y-Wert;Z-Wert\n" + "".join(f"{n};{line[:-2].replace(' ', ';')}\n"
                                               for n, line in enumerate(ROWS.splitlines(), 1))
    ],
    ids=["medit", "fluent", "tetgen", "colmap", "nastran", "cp2k", "abaqus", "german"],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["txt", "unknown"])
def test_rows_of_other_programs(tmp_path: Path, text: str, ending: str) -> None:
    particles = read(write(tmp_path / f"a.{ending}", text))
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


@pytest.mark.parametrize("names", ["theta,phi,r", "Latitude,Longitude,depth"])
def test_angles_are_no_coordinates(tmp_path: Path, names: str) -> None:
    first, second, _ = names.split(",")
    with pytest.raises(DataFileError, match=f"{first} and {second} are angles: compute x, y and z"):
        read(write(tmp_path / "a.csv", f"{names}\n1,2,3\n4,5,6\n"))


def test_a_letter_within_a_word_is_no_axis(tmp_path: Path) -> None:
    particles = read(write(tmp_path / "a.csv", "y,x,size\n1,2,3\n4,5,6\n"))
    np.testing.assert_array_equal(particles.centers, [[2, 1, 0], [5, 4, 0]])


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


@pytest.mark.parametrize("form", ['"[{0}, {1}, {2}]"', '"({0}; {1}; {2})"', "[{0} {1} {2}]"])
def test_vectors_in_cells(tmp_path: Path, form: str) -> None:
    """As pandas writes lists."""
    rows = "".join(f"{n},{form.format(*point)},0.5\n" for n, point in enumerate(POINTS.tolist()))
    path = write(tmp_path / "a.csv", f"id,position,radius\n{rows}")
    particles = read(path)
    np.testing.assert_array_equal(particles.centers, POINTS)
    np.testing.assert_array_equal(particles.radius, [0.5] * 4)
    assert read_row(DataFile(path), 2, 4)["id"] == 2


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
    assert frame_count(path) == 2
    particles = read(DataFile(path, frame=1))
    np.testing.assert_allclose(particles.centers, POINTS + 0.75)
    np.testing.assert_array_equal(particles.radius, [0.5, 1, 1.5, 2])
    assert particles.time is not None
    assert particles.time.value == 0.75


def test_rows_that_begin_with_axes_are_no_variables(tmp_path: Path) -> None:
    """Variables have as many values, and two at least; other rows are those of a table."""
    lines = "x,1,2,3\ny,4,5,6\nz,7,8,9\nx,1,2,4\n"
    particles = read(write(tmp_path / "a.csv", f"label,x,y,z\n{lines}"))
    np.testing.assert_array_equal(particles.centers, [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 2, 4]])


@pytest.mark.parametrize("count", [2, 4])
def test_atoms_for_multislice_programs(tmp_path: Path, count: int) -> None:
    """Of Kirkland and Prismatic: the last line is no atom."""
    rows = "".join(f"{place + 6} {x} {y} {z} 1.00 0.085\n"
                   for place, (x, y, z) in enumerate(POINTS[:count].tolist()))  # fmt: skip
    path = write(tmp_path / "a.xyz", f"Gold, zone axis 001\n 4 5 6.5\n{rows}-1\n")
    with source_of(path) as source:
        assert source.box is not None
        np.testing.assert_array_equal(source.box.edges, np.diag([4, 5, 6.5]))
    particles = read(path)
    np.testing.assert_array_equal(particles.centers, POINTS[:count])
    assert particles.labels is not None
    assert particles.labels.meaning == "elements"
    assert particles.labels.names == [str(place + 6) for place in range(count)]
    path.write_text(path.read_text() + "1 2 3\n")  # after the end
    assert len(read(path).centers) == count
    path.write_text(path.read_text().replace("-1\n", "6 1 2 3 1\n-1\n"))
    if count == 4:  # the start is certain
        with pytest.raises(DataFileError, match="line 7: is not 6 numbers"):
            read(path)
