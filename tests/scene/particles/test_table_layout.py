"""Where the rows of a text begin and end, and which columns are coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raytracer.errors import DataFileError
from raytracer.scene.particles import naming
from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.particles.read import read, read_row
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
    "stem",
    ["Velocity_{}", "Max Position {}", "bounding box center {}", "force {}", "n{}"],
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
