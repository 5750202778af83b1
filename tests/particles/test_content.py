"""Files whose content decides what they are, and liberties that other programs take."""

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from raytracer import Scene, load
from raytracer.config.errors import DataFileError
from raytracer.config.warning import collect_warnings
from raytracer.particles.locate import locate_frame
from raytracer.particles.read import read
from raytracer.particles.registry import find_by_content
from raytracer.scene_files.load import is_scene
from support.particle_files import write

CELL = "  18.6960000000   0.0000000000   0.0000000000\n" * 3
ATOM = (
    "K+               1   39.098300    0.994000\n    -7.595541651    -7.898808509    -7.861763110\n"
)


def test_a_database_in_json_is_no_scene(tmp_path: Path) -> None:
    database = write(tmp_path / "a.json", '{"1": {\n "cell": null},\n"ids": [1],\n"nextid": 2}\n')
    assert not is_scene(database)
    assert is_scene(write(tmp_path / "b.json", '{"title": "1"}'))
    assert is_scene(write(tmp_path / "c.json", "{"))
    assert is_scene(tmp_path / "missing.json")


def test_velocities_of_trr(tmp_path: Path) -> None:
    pytest.importorskip("chemfiles")
    points = np.arange(6.0).reshape(2, 3)
    sizes = struct.pack(">13i", 0, 0, 0, 0, 0, 0, 0, 24, 24, 24, 2, 0, 0)
    head = struct.pack(">iii12s", 1993, 13, 12, b"GMX_trn_file") + sizes + bytes(8)
    rows = [(factor * points).astype(">f4").tobytes() for factor in (1.0, 2.0, 3.0)]
    path = write(tmp_path / "a.trr", head + b"".join(rows))
    with collect_warnings():
        columns = load(path).columns
    np.testing.assert_allclose(columns["velocity"], 20.0 * points)  # angstrom in a picosecond
    without = struct.pack(">13i", 0, 0, 0, 0, 0, 0, 0, 0, 24, 24, 2, 0, 0)
    alone = write(tmp_path / "b.trr", head.replace(sizes, without) + b"".join(rows[1:]))
    with pytest.raises(DataFileError, match=r"no frame with positions"):
        read(alone)


def test_coordinates_that_are_no_numbers() -> None:
    table = {"x": np.array(["a", "b"]), "y": np.zeros(2), "z": np.zeros(2)}
    with pytest.raises(DataFileError, match="'x' cannot be the x coordinate: it holds texts"):
        Scene.from_object(table)


def test_nanometres_of_h5md_are_angstrom_as_radii_are(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    points = np.arange(12.0).reshape(2, 2, 3)
    with h5py.File(tmp_path / "a.h5md", "w") as file:
        file.create_group("h5md")
        file["particles/all/position/value"] = points
        file["particles/all/position/value"].attrs["unit"] = "nm"
        file["particles/all/box/edges"] = [1.0, 2.0, 3.0]
    found = read(locate_frame(tmp_path / "a.h5md", 1))
    np.testing.assert_array_equal(found.centers, 10.0 * points[1])
    assert found.box is not None
    assert np.diag(found.box.edges).tolist() == [10.0, 20.0, 30.0]


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("[Molden Format]\n[Atoms] AU\n", ".molden"),
        ("[MOLDEN FORMAT]\n[Title]\n", ".molden"),
        ("Number of particles = 2\n", ".cfg"),
        ("CRYSTAL\nPRIMVEC\n", ".xsf"),
        ("# c\n\nATOMS\n8 0 0 0\n", ".xsf"),
        ("ANIMSTEPS 4\nCRYSTAL\n", ".xsf"),
        ("# c\nPRIMVEC\n", None),
        ("ATOMS x y z\n1 0 0 0\n", None),
        ("# c\n\n%BLOCK LATTICE_CART\n", ".cell"),
        ("%block positions_frac\n", ".cell"),
        ("! c\n&control\n/\n", ".pwi"),
        ("vasp.6.3.0 20Jan22\n", ".outcar"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>\n<modeling>\n <generator>\n', ".vasp-xml"),
        ("TITLE\na\nEND\nPOSITION\n", ".g96"),
        ("TITLE\na\nEND\nTIMESTEP\n 1 0.5\nEND\nPOSITION\n", ".g96"),
        ("TITLE\na\nEND\nPOSITIONRED\n", None),
        ("!BIOSYM archive 3\n", ".car"),
        ("$coord\n 0 0 0 h\n", ".coord"),
        ("(Version 6f format configuration file)\n", ".rmc6f"),
        ("#$magres-abinitio-v1.0\n", ".magres"),
        (f"title\n         0         3         1\n{CELL}{ATOM}", ".config"),
        (f"title\n         0         0\n{ATOM}", ".config"),
        (f"title\n  0  3  1  1  8\ntimestep  1  1 0 3  0.005  0.005\n{CELL}{ATOM}", ".history"),
    ],
)
def test_files_of_libraries_by_their_content(text: str, variant: str | None) -> None:
    found = find_by_content(text.encode())
    assert (found and found.variant) == variant


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("cfg", "a"),
        ("xsf", "a"),
        ("xsf", "a.foo"),
        ("xsf", "a.dat"),
        ("castep-cell", "a.txt"),
        ("espresso-in", "a.in"),
        ("gromos", "a"),
        ("dmol-car", "a"),
        ("turbomole", "a"),
        ("rmc6f", "a.dat"),
        ("magres", "a"),
    ],
)
def test_structures_are_recognised_under_any_name(form: str, name: str, tmp_path: Path) -> None:
    """Some are rows of numbers too: as tables they would have their cell among the atoms."""
    build, io = pytest.importorskip("ase.build"), pytest.importorskip("ase.io")
    atoms = build.bulk("NaCl", "rocksalt", 5.64, cubic=True)
    settings = {"pseudopotentials": {"Na": "a", "Cl": "b"}} if form == "espresso-in" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of writers that name no residues
        io.write(tmp_path / name, atoms, format=form, **settings)
    with collect_warnings():
        found = read(locate_frame(tmp_path / name, None))
    expected = sorted(map(tuple, np.round(atoms.positions % 5.64, 3).tolist()))
    assert sorted(map(tuple, np.round(found.centers % 5.64, 3).tolist())) == expected


VASPRUN = """<?xml version="1.0" encoding="ISO-8859-1"?>
<modeling>
 <kpoints>
  <varray name="kpointlist"><v>0 0 0</v></varray><varray name="weights"><v>1</v></varray>
 </kpoints>
 <atominfo><atoms>2</atoms><array name="atoms"><set>
  <rc><c>Si</c><c>1</c></rc><rc><c>Si</c><c>1</c></rc>
 </set></array></atominfo>
 {structure}
 <calculation>
  <scstep><energy>{energies}</energy></scstep>
  {structure}
  <varray name="forces"><v>0 0 0</v><v>0 0 0</v></varray>
  <energy>{energies}</energy>
 </calculation>
</modeling>
""".format(
    structure='<structure name="initialpos"><crystal><varray name="basis"><v>4 0 0</v><v>0 4 0</v>'
    '<v>0 0 4</v></varray></crystal><varray name="positions"><v>0 0 0</v><v>0.25 0.25 0.25</v>'
    "</varray></structure>",
    energies="".join(f'<i name="{e}">-1</i>' for e in ("e_fr_energy", "e_wo_entrp", "e_0_energy")),
)


@pytest.mark.parametrize("name", ["vasprun.xml", "relaxed.xml", "a"])
def test_a_vasprun_is_recognised_under_any_name(name: str, tmp_path: Path) -> None:
    pytest.importorskip("ase")
    found = read(locate_frame(write(tmp_path / name, VASPRUN), None))
    assert found.centers.tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize("name", ["a.molden.input", "a"])
def test_molden_is_recognised_under_any_name(name: str, tmp_path: Path) -> None:
    """ORCA writes `NAME.molden.input`."""
    pytest.importorskip("chemfiles")
    text = "[Molden Format]\n[Atoms] Angs\nO 1 8 0.0 0.0 0.0\nH 2 1 0.0 0.0 0.96\n"
    found = read(locate_frame(write(tmp_path / name, text), None))
    np.testing.assert_allclose(found.centers, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.96]], atol=1e-6)


@pytest.mark.parametrize("name", ["x.crd", "eq.restrt"])
def test_a_restart_of_amber_by_its_content(tmp_path: Path, name: str) -> None:
    numbers = "".join(f"{value:12.7f}" for value in range(1, 7))
    found = read(write(tmp_path / name, f"title\n    2\n{numbers}\n"))
    assert found.centers.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    "value",
    [
        '"5.0, 1.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 7.0"',
        '"5,1,0,0,6,0,0,0,7"',
        '"[[5 1 0] [0 6 0] [0 0 7]]"',
        '"(5, 1, 0), (0, 6, 0), (0, 0, 7)"',
        "'5 1 0; 0 6 0; 0 0 7'",
        "[[5.0, 1.0, 0.0], [0, 6, 0], [0, 0, 7.0]]",
        "[5, 1, 0, 0, 6, 0, 0, 0, 7]",
        "{5 1 0 0 6 0 0 0 7}",
    ],
)
def test_lattices_with_commas_and_brackets(tmp_path: Path, value: str) -> None:
    """The rows are the edges, as in the specification of extended XYZ."""
    keys = f"Lattice={value} Properties=species:S:1:pos:R:3 pbc=[T, F, T] time=3"
    (spheres,) = load(write(tmp_path / "a.xyz", f"2\n{keys}\nO 0 0 0\nH 1 0 0\n")).spheres
    assert spheres.box is not None
    assert spheres.box.edges == ((5.0, 1.0, 0.0), (0.0, 6.0, 0.0), (0.0, 0.0, 7.0))
    assert spheres.box.periodic == (True, False, True)
    assert spheres.time is not None
    assert spheres.time.value == 3.0


@pytest.mark.parametrize("value", ['"5, 1, 0"', '"5 1 0 0 6 0 0 0 nan"', "[[5 1 0]", '"a,b"'])
def test_lattices_that_are_none(tmp_path: Path, value: str) -> None:
    path = write(tmp_path / "a.xyz", f"1\nLattice={value}\nO 0 0 0\n")
    with pytest.raises(DataFileError, match=r"line 2: Lattice: .* is not nine numbers"):
        load(path)


@pytest.mark.parametrize("ending", ["xyz", "csv", "points", "txt", "asc", "", "xyzn", "mdcrd.txt"])
@pytest.mark.parametrize("form", ["{:.3f} {:.3f} {:.3f}", "{:8.3f}{:8.3f}{:8.3f}"])
@pytest.mark.parametrize("head", ["", "points of a scan\n", "# 12 points\n"])
def test_points_with_three_decimals(tmp_path: Path, ending: str, form: str, head: str) -> None:
    """They are no trajectory of Amber, whose frames of one atom alone have three numbers a line."""
    if ending == "xyz" and head.startswith("points"):
        return  # the first line of an XYZ file is a number
    points = np.round(np.random.default_rng(1).uniform(-9.0, 9.0, (12, 3)), 3)
    text = head + "".join(form.format(*point) + "\n" for point in points)
    with collect_warnings():
        found = read(write(tmp_path / f"a.{ending}", text)).centers
    np.testing.assert_array_equal(found, points)
