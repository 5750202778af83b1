"""Tables in text beyond .csv: tabs, spaces, and tables without names."""

from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer import RaytracerWarning, load
from raytracer.config.errors import DataFileError
from raytracer.model.elements import Element, find_element
from raytracer.particles.objects.registry import read_object
from raytracer.particles.read import read
from raytracer.scene_files.bare import ATOM
from raytracer.scene_files.summary import summarize_file
from support.particle_files import write


def test_labels_of_a_table(tmp_path: Path) -> None:
    text = 'x,y,z,species\n0,0,0,"Cu"\n3,0,0,O\n6,0,0,"Cu"\n'
    data = read(write(tmp_path / "a.csv", text))
    np.testing.assert_array_equal(
        data.radius, [find_element(name).radius for name in ("Cu", "O", "Cu")]
    )
    assert data.labels is not None
    assert data.labels.line == 2
    types = read(write(tmp_path / "b.csv", text.replace("species", "type")))
    assert types.labels is not None
    assert types.labels.meaning == "types"
    sized = read(write(tmp_path / "c.csv", "x,y,z,radius,r,g,b,element\n0,0,0,1,1,0,0,Cu\n"))
    assert sized.labels is None


@pytest.mark.parametrize("blank", ["", "NA", "N/A", "null"])
@pytest.mark.parametrize("first", [True, False])
def test_a_cell_without_a_value_is_nan(tmp_path: Path, blank: str, first: bool) -> None:
    cells = [blank, "8"] if first else ["8", blank]
    path = tmp_path / "a.csv"
    path.write_text("x,y,z,T\n1,2,3," + cells[0] + "\n2,3,4," + cells[1] + "\n")
    values = np.asarray(raytracer.load(path).spheres[0].columns["T"])
    np.testing.assert_array_equal(np.isnan(values), [first, not first])


NANOMETRES = """\
x [nm],y [nm],z [nm],element
0,0,0,C
0.1,0.02,0,H
"""


@pytest.mark.parametrize("axis", ["[nm]", "(nm)"])
def test_nanometres_become_angstrom_with_elements(tmp_path: Path, axis: str) -> None:
    path = write(tmp_path / "a.csv", NANOMETRES.replace("[nm]", axis))
    (spheres,) = load(path).spheres
    expected = np.array([[0.0, 0.0, 0.0], [1.0, 0.2, 0.0]])
    np.testing.assert_allclose(np.asarray(spheres.centers), expected, rtol=1e-15)
    np.testing.assert_allclose(
        spheres.radius, [ATOM * (find_element(each).radius or 0.0) for each in ("C", "H")]
    )
    np.testing.assert_array_equal(spheres.columns[f"x {axis}"], [0.0, 0.1])  # as the file has it
    np.testing.assert_allclose(spheres.columns["x"], [0.0, 1.0], rtol=1e-15)
    assert spheres.columns.unit(f"x {axis}") == "nm"
    assert spheres.file is not None
    assert summarize_file(spheres.file)["positions"].startswith("Å, converted from nm")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("element", "name"),  # no elements
        ("element", "type"),
        (",element\n0,0,0,C\n0.1,0.02,0,H", ",element,radius\n0,0,0,C,1\n0.1,0.02,0,H,2"),
        ("z [nm]", "z"),  # not the unit of all three
        ("[nm]", "[um]"),
    ],
)
def test_positions_stay_without_radii_of_elements(tmp_path: Path, old: str, new: str) -> None:
    data = read(write(tmp_path / "a.csv", NANOMETRES.replace(old, new)))
    assert np.max(data.centers) == 0.1
    assert data.file is not None
    assert not data.file.converted
    nanometres = write(tmp_path / "a.csv", NANOMETRES)
    stated = {"C": Element(0.07), "H": Element(0.03)}  # which are in nanometres, too
    assert np.max(read(nanometres, elements=stated).centers) == 0.1
    assert np.max(read(nanometres, elements={"C": Element(0.7)}).centers) == 1.0


@pytest.mark.parametrize(
    ("head", "row", "center", "radius", "notes"),
    [
        ("x [m],y [m],z [m],radius [um]", "1e-3,2e-3,3e-3,100", (1e-3, 2e-3, 3e-3), 1e-4, 1),
        ("x (m),y (m),z (m),radius (µm)", "1e-3,2e-3,3e-3,100", (1e-3, 2e-3, 3e-3), 1e-4, 1),
        ("x / mm,y / mm,z / um,diameter / um", "1,2,3000,500", (1, 2, 3), 0.25, 2),
        ("x_mm,y_um,z_mm,radius", "1,2000,3,0.5", (1, 2, 3), 0.5, 1),
        ("x [Mpc/h],y [Mpc/h],z [Mpc/h],radius [kpc/h]", "1,2,3,500", (1, 2, 3), 0.5, 1),
        ("x [nm],y [nm],z [Å],radius [angstrom]", "1,2,30,5", (1, 2, 3), 0.5, 2),
        ("x [um],y [µm],z [micron],radius [um]", "1,2,3,0.5", (1, 2, 3), 0.5, 0),
        ("x [au],y [au],z [au],radius [km]", "1,2,3,1.495978707e8", (1, 2, 3), 1.0, 1),
        # Units that are no lengths are not converted, and this is said; other words are none.
        ("x [mm],y [mm],z [mm],radius [px]", "1,2,3,0.5", (1, 2, 3), 0.5, 1),
        ("x [mm],y [mm],z [mm],radius (HU)", "1,2,3,0.5", (1, 2, 3), 0.5, 1),
        ("x [kpc],y [kpc],z [kpc],radius [kpc/h]", "1,2,3,0.5", (1, 2, 3), 0.5, 1),
        ("x [mm],y [mm],z [mm],radius (mean)", "1,2,3,0.5", (1, 2, 3), 0.5, 0),
    ],
)
def test_units_of_one_table(
    head: str, row: str, center: tuple[float, ...], radius: float, notes: int, tmp_path: Path
) -> None:
    data = read(write(tmp_path / "a.csv", f"{head}\n{row}\n{row}\n"))
    np.testing.assert_allclose(data.centers, [center] * 2, rtol=1e-12)
    assert data.radius is not None
    np.testing.assert_allclose(data.radius, [radius] * 2, rtol=1e-12)
    assert ["convert" in text for _, text in data.notes] == [True] * notes


@pytest.mark.parametrize("name", ["a.ecsv", "a.vot", "a.fits", "object"])
def test_units_of_astropy(name: str, tmp_path: Path) -> None:
    table_of = pytest.importorskip("astropy.table").Table
    axes = {axis: np.arange(4.0) + place for place, axis in enumerate("xyz")}
    units = {**dict.fromkeys("xyz", "kpc"), "radius": "pc"}
    table = table_of({**axes, "radius": np.full(4, 500.0)}, units=units)
    if name == "object":
        data = read_object(table)
    else:
        table.write(tmp_path / name, **({"format": "votable"} if name == "a.vot" else {}))
        data = read(tmp_path / name)
    assert data.radius is not None
    np.testing.assert_allclose(data.radius, np.full(4, 0.5))
    if name == "a.ecsv":  # of quantities, units are part of the values
        assert ["'radius' is converted to kpc" in text for _, text in data.notes] == [True]


@pytest.mark.parametrize("cells", ["1 A 2", "1 '' 2", "nan H O"])
def test_labels_are_texts_whatever_the_first_is(tmp_path: Path, cells: str) -> None:
    labels = [cell.strip("'") for cell in cells.split()]
    text = "".join(f"{place},0,0,{label}\n" for place, label in enumerate(labels))
    found = read(write(tmp_path / "a.csv", f"x,y,z,type\n{text}")).labels
    assert found is not None
    assert [found.names[place] for place in found.ids] == labels


def test_a_table_in_two_dimensions(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id,x,y\n7,1,2\n8,3,4\n")
    with pytest.warns(RaytracerWarning, match="there is no column z, so all particles have z = 0"):
        (spheres,) = load(path).spheres
    np.testing.assert_array_equal(spheres.centers, [[1, 2, 0], [3, 4, 0]])
    assert spheres.columns["z"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["my z", "heightZ", "z_of_all"])
def test_a_table_whose_z_may_have_another_name_is_not_flat(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a.csv", f"id,x,y,{name}\n7,1,2,5\n8,3,4,6\n")
    with pytest.raises(DataFileError, match=f"it holds .*{name}"):
        read(path)
    np.testing.assert_array_equal(read(path, {"z": name}).centers, [[1, 2, 5], [3, 4, 6]])


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1.5D+03", 1500.0), ("-2d-1", -0.2), ("1,5", 1.5), ("1,234.5", 1234.5), ("1.234,5", 1234.5),
     ("1,234,567", 1234567.0)],
)  # fmt: skip
def test_numbers_of_other_programs(tmp_path: Path, cell: str, value: float) -> None:
    data = read(write(tmp_path / "a.csv", f"x;y;z\n1;2;3\n{cell};5;6\n"))
    np.testing.assert_array_equal(data.centers, [[1, 2, 3], [value, 5, 6]])


def test_a_folder_of_liggghts(tmp_path: Path) -> None:
    from raytracer.particles.series import find_series
    from support.particle_files import dump

    for step in (100, 200):
        write(tmp_path / f"dump{step}.liggghts", dump("id type x y z", ["1 1 0 0 0"], step))
        write(tmp_path / f"dump{step}_boundingBox.vtk", "# vtk DataFile Version 2.0\n")
    named = ["dump100.liggghts", "dump200.liggghts"]
    for path in (tmp_path, tmp_path / "dump*"):
        found = find_series(path)
        assert found is not None
        assert [each.name for each in found.files] == named
    boxes = find_series(tmp_path / "*_boundingBox.vtk")
    assert boxes is not None
    assert len(boxes.files) == 2


@pytest.mark.parametrize(
    ("factor", "is_radius"), [(1.0, True), (1e-4, False), (30.0, False), (-1.0, False)]
)
def test_radii_without_a_name(tmp_path: Path, factor: float, is_radius: bool) -> None:
    """Of spheres with numbers: id x y z r; other quantities do not fit."""
    random = np.random.default_rng(17)
    rows = np.c_[np.arange(1, 41), random.uniform(0, 10, (40, 3)), random.uniform(0.4, 0.5, 40)]
    rows[:, 4] *= factor
    path = tmp_path / "a.dat"
    np.savetxt(path, rows, ["%d", *["%.9f"] * 4])
    data = read(path)
    np.testing.assert_allclose(data.centers, rows[:, 1:4], atol=1e-8)
    assert ("'column 5' is taken as the radius" in str(data.notes)) == is_radius
    if is_radius:
        assert data.radius is not None
        np.testing.assert_allclose(data.radius, rows[:, 4], atol=1e-8)
    assert read(path, {"x": "5", "y": "3", "z": "4"}).radius is None


@pytest.mark.parametrize(
    ("head", "names", "factor"),
    [
        ("#Units: Positions in Mpc / h\n#Units: Lengths, and Radii in kpc / h\n", "X Y Z", 1e-3),
        ("", "X[kpc/h] Y[kpc/h] Z[kpc/h]", 1.0),
        ("", "X Y Z", None),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_radii_of_haloes(tmp_path: Path, head: str, names: str, factor: float | None) -> None:
    """Rockstar states other units for radii than for positions; without units nothing is taken."""
    virial = "Rvir[kpc/h]" if "[" in names else "Rvir"
    rows = "0 1 2 3 200 1\n1 4 5 6 100 1\n2 7 5 6 300 2\n3 9 5 6 300 3\n"
    path = write(tmp_path / "out_0.list", f"#ID {names} {virial} Halfmass_Radius\n{head}{rows}")
    data = read(path)
    np.testing.assert_array_equal(data.centers[0], [1, 2, 3])
    if factor is None:
        assert data.radius is None
    else:
        assert data.radius is not None
        np.testing.assert_allclose(data.radius, np.array([200, 100, 300, 300]) * factor)
        assert f"'{virial}' is taken as the radius, in the unit of the positions" in str(data.notes)
    np.testing.assert_array_equal(read(path, {"radii": "Halfmass_Radius"}).radius, [1, 1, 2, 3])
