"""Columns and labels of particle files, elements, and places on the sky."""

import re
from pathlib import Path

import numpy as np
import pytest

from raytracer import UserError, load
from raytracer.config.errors import DataFileError
from raytracer.model import particle_names as naming
from raytracer.model.elements import Element, find_element, find_symbol, load_elements
from raytracer.particles import celestial
from raytracer.particles.read import read
from support.particle_files import write


def test_doubled_columns_that_are_not_read_do_no_harm(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,X [m],id,y,z,id,,\n1,9,9,2,3,9,9,9\n")
    np.testing.assert_array_equal(read(table).centers, [[1, 2, 3]])
    told = read(table, {"x": "X [m]"})
    np.testing.assert_array_equal(told.centers, [[9, 2, 3]])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_with_own_names(tmp_path: Path, save: object) -> None:
    points = np.random.default_rng(9).normal(size=(3, 20)).T
    save(tmp_path / "a.npz", pos=points, size=np.float32(2.0), rgb=np.ones((20, 3)))  # type: ignore[operator]
    data = read(tmp_path / "a.npz", {"centers": "pos", "radii": "size", "colors": "rgb"})
    np.testing.assert_array_equal(data.centers, points)
    assert data.radius is not None
    assert float(data.radius) == 2.0
    assert data.names == {"centers": "pos", "radius": "size", "color": "rgb"}


def test_many_labels_over_several_blocks(tmp_path: Path) -> None:
    labels = [("H", "C", "O", "longlabel_number_1")[i * i % 4] for i in range(40_000)]
    text = "".join(f"{label} {i} 0 0\n" for i, label in enumerate(labels))
    path = write(tmp_path / "a.xyz", f"{len(labels)}\n\n{text}")
    own = {label: Element(float(i + 1)) for i, label in enumerate(["H", "C", "longlabel_number"])}
    data = read(path, elements=own)
    assert data.radius is not None
    expected = [{"H": 1.0, "C": 2.0, "O": 0.63}.get(label, 3.0) for label in labels]
    np.testing.assert_array_equal(data.radius, expected)


def test_all_elements_are_there_in_order() -> None:
    symbols = list(load_elements())
    assert len(symbols) == 118
    for number, symbol in ((1, "H"), (6, "C"), (26, "Fe"), (57, "La"), (79, "Au"), (118, "Og")):
        assert symbols[number - 1] == symbol
    for element in load_elements().values():
        assert element.radius is not None
        assert element.color is not None
        assert 0.3 < element.radius < 2.5
        assert all(0.0 <= v <= 1.0 for v in element.color)


def test_labels() -> None:
    labels = {"fe": "Fe", "FE": "Fe", "C12": "C", "26": "Fe", "D": "H", "Uuo": None, "0": None}
    assert {label: find_symbol(label) for label in labels} == labels
    own = {"Au": Element(radius=2.0), "Bead": Element(3.0)}
    assert find_element("Au", own) == Element(2.0, load_elements()["Au"].color)
    assert find_element("Bead", own).radius == 3.0


ROWS = "0,0,{a}\n90,0,{b}\n0,90,{c}\n"


@pytest.mark.parametrize(
    ("names", "values", "distances", "unit", "sentence"),
    [
        ("ra,dec,parallax", (10, 100, 4), (100, 10, 250), "pc", "1000 / parallax in mas, in pc"),
        ("RAJ2000,DEJ2000,Plx", (1, 2, 4), (1000, 500, 250), "pc", "in pc"),
        (
            "RA,DEC,Z",
            (0.07, 0.7, 0),
            (1, 1, 1),
            "",
            "(--columns redshift=Z makes 'Z' one: c z / H0",
        ),
        ("glon,glat,distance_kpc", (8, 2, 1), (8, 2, 1), "kpc", "as in the file, in kpc"),
        ("l [deg],b [deg],dist [pc]", (8, 2, 1), (8, 2, 1), "pc", "in pc"),
        ("target_ra,target_dec,mag", (8, 2, 1), (1, 1, 1), "", "on the unit sphere"),
    ],
)
def test_distances(
    tmp_path: Path, names: str, values: tuple[float, ...], distances: tuple[float, ...],
    unit: str, sentence: str,
) -> None:  # fmt: skip
    a, b, c = values
    path = write(tmp_path / "a.csv", f"{names}\n{ROWS.format(a=a, b=b, c=c)}")
    data = read(path)
    np.testing.assert_allclose(data.centers, np.eye(3) * distances, rtol=1e-6, atol=1e-6)
    assert data.unit == unit
    assert sentence in str(data.notes)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("column", ["Z", "z_spec", "any"])
def test_redshifts_are_distances_where_they_are_asked_for(tmp_path: Path, column: str) -> None:
    """By any name, and even beside other distances and positions."""
    rows = "0,0,0.07,1,9\n90,0,0.7,1,9\n0,90,0,1,9\n"
    path = write(tmp_path / "a.csv", f"RA,DEC,{column},distance,x\n{rows}")
    data = read(path, {"redshift": column})
    distances = np.diag([299.792458, 2997.92458, 0])
    np.testing.assert_allclose(data.centers, distances, rtol=1e-6, atol=1e-6)
    assert data.unit == "Mpc"
    said = f"'RA', 'DEC' and '{column}' (distance: c z / H0 with H0 = 70 km/s/Mpc, in Mpc)"
    assert said in str(data.notes)
    scene = load(path, arrays={"redshift": column})
    np.testing.assert_allclose(scene.spheres[0].centers, data.centers)
    assert scene.describe(1).values[column] == 0.7


@pytest.mark.parametrize(
    ("names", "column", "words"),
    [
        ("ra,dec,z", "zz", "there is no column of numbers 'zz'; did you mean 'z'?"),
        (
            "x,y,z",
            "z",
            "is for files with columns of celestial coordinates, such as",
        ),
    ],
)
def test_redshifts_that_there_are_not(tmp_path: Path, names: str, column: str, words: str) -> None:
    path = write(tmp_path / "a.csv", f"{names}\n{ROWS.format(a=1, b=2, c=3)}")
    with pytest.raises(DataFileError, match=re.escape(words)):
        read(path, {"redshift": column})
    for name in ("a.xyz", "a.npz"):
        np.savez(tmp_path / "a.npz", centers=np.eye(3))
        write(tmp_path / "a.xyz", "1\n\nO 0 0 0\n")
        with pytest.raises(DataFileError, match="is for files with columns of celestial"):
            read(tmp_path / name, {"redshift": "z"})


@pytest.mark.parametrize("angles", celestial.ANGLES)
def test_examples_of_angles_are_such_names(angles: celestial.Angles) -> None:
    """In any order, among others, and of one system alone."""
    names = ["mag", *reversed(angles.examples), "id"]
    assert celestial.find_angle_columns(names) == [*angles.examples]
    assert celestial.find_angle_columns([angles.examples[0], "mag"]) == []
    others = [each for each in celestial.ANGLES if each is not angles]
    mixed = [angles.examples[0], *(each.examples[1] for each in others)]
    assert celestial.find_angle_columns(mixed) == []


@pytest.mark.parametrize("distance", [*celestial.DISTANCES, celestial.REDSHIFT])
def test_examples_of_distances_are_such_names(distance: celestial.Distance) -> None:
    kinds = [*celestial.DISTANCES, celestial.REDSHIFT]
    plain = naming.normalize_name(distance.example)
    assert [each for each in kinds if re.fullmatch(each.pattern, plain)] == [distance]


@pytest.mark.filterwarnings("ignore")
def test_rows_without_a_distance_are_left_out(tmp_path: Path) -> None:
    rows = ROWS.format(a=10, b=-1, c=0) + "0,-90,\n180,0,2\n"
    path = write(tmp_path / "a.csv", f"ra,dec,parallax\n{rows}")
    data = read(path, wanted=lambda columns: ["parallax"])
    np.testing.assert_allclose(data.centers, [[100, 0, 0], [-500, 0, 0]], atol=1e-9)
    assert data.extra["parallax"].tolist() == [10, 2]
    assert "rows without a positive value are left out: 3" in str(data.notes)
    assert load(path).describe(1).values == {"ra": 180.0, "dec": 0.0, "parallax": 2.0}


@pytest.mark.parametrize(("names", "pole"), [("ra [h],dec [rad]", np.pi / 2),
                                             ("ra (hours),dec (degrees)", 90)])  # fmt: skip
def test_units_of_angles(tmp_path: Path, names: str, pole: float) -> None:
    path = write(tmp_path / "a.csv", f"{names},dist\n6,0,1\n0,{pole!r},2\n")
    np.testing.assert_allclose(read(path).centers, [[0, 1, 0], [0, 0, 2]], atol=1e-12)


def test_stated_columns_and_cartesian_ones_take_precedence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"ra,dec,parallax\n{ROWS.format(a=-1, b=0, c=5)}")
    stated = read(path, {"x": "ra", "y": "dec", "z": "parallax"}).centers
    np.testing.assert_array_equal(stated, [[0, 0, -1], [90, 0, 0], [0, 90, 5]])
    both = write(tmp_path / "b.csv", "x,y,z,ra,dec\n1,2,3,4,5\n1,3,3,4,5\n")
    np.testing.assert_array_equal(read(both).centers, [[1, 2, 3], [1, 3, 3]])


def test_stated_columns_keep_rows_without_a_parallax(tmp_path: Path) -> None:
    """Nor does a column of times, by which frames are looked for, or reading again change it."""
    names, arrays = "ra,dec,parallax,time,id,X1,Y1,Z1", {"x": "X1", "y": "Y1", "z": "Z1"}
    rows = [f"{n},{n},{n % 2 or ''},{n},{n},{n},{-n},7" for n in range(4)]
    path = write(tmp_path / "a.csv", "\n".join([names, *rows]) + "\n")
    scene = load(path, arrays=arrays)
    np.testing.assert_array_equal(scene.spheres[0].centers, [[n, -n, 7] for n in range(4)])
    np.testing.assert_array_equal(scene.columns["ra"], range(4))
    assert scene.describe(2).values["ra"] == 2


def test_bands_of_a_survey_are_no_redshift_and_no_radius(tmp_path: Path) -> None:
    """Columns g, r and z of magnitudes are neither colours nor a radius nor a distance."""
    file = tmp_path / "galaxies.csv"
    rows = [f"{10 * n},{n},18.8,17.5,16.8,16.4,16.2,0.0{n}" for n in range(1, 6)]
    file.write_text("\n".join(["ra,dec,u,g,r,i,z,redshift", *rows]), encoding="utf-8")
    data = read(file)
    assert "--columns redshift=redshift makes" in str(data.notes)
    data = read(file, {"redshift": "redshift"})
    assert "'ra', 'dec' and 'redshift'" in str(data.notes)
    distances = np.linalg.norm(data.centers, axis=1)
    np.testing.assert_allclose(distances, 299_792.458 / 70 * np.arange(0.01, 0.06, 0.01), rtol=1e-5)
    assert "radius" not in str(data.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ra [turn],dec [deg],dist\n6,0,1\n0,1,2\n", "the unit 'turn' of 'ra"),
        ("glon,glat,dist\n6,300,1\n0,1,2\n", "'glat' is beyond 90 degrees"),
        ("l,b,h\n40,30,10\n20,10,5\n", "there are no columns x, y and z"),  # no angles
    ],
)
def test_what_is_no_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(write(tmp_path / "a.csv", text))
