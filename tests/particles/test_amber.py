"""Files of AMBER and CHARMM in text: topologies, restart files, coordinates."""

import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.config.errors import UserError
from raytracer.model.elements import find_element
from raytracer.particles.read import read
from raytracer.scene_files.bare import ATOM
from raytracer.scene_files.source import InputSource
from raytracer.scene_files.summary import summarize_file
from raytracer.trajectory.source import open_frames
from support.particle_files import complaint, write

needs_mdanalysis = pytest.mark.skipif(find_spec("MDAnalysis") is None, reason="no MDAnalysis")

POINTS = np.random.default_rng(5).uniform(0.1, 9.0, (6, 3))
SYMBOLS = ["C", "H", "O", "N", "Cu", "Cl"]

PRMTOP = """\
%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/26  00:00:00
%FLAG TITLE
%FORMAT(20a4)
a title
%FLAG POINTERS
%FORMAT(10I8)
       6       4       1       1       0       0       0       0       0       0
       0       3       0       0       0       0       0       0       0       0
       0       0       0       0       0       0       0       0       0       0
       0
%FLAG ATOM_NAME
%FORMAT(20a4)
C   H1  O   N   CU  CL
%FLAG CHARGE
%FORMAT(5E16.8)
  1.82223000E+00 -3.64446000E+00  0.00000000E+00  0.00000000E+00  3.64446000E+01
 -1.82223000E+01
%FLAG ATOMIC_NUMBER
%FORMAT(10I8)
       6       1       8       7      29      17
%FLAG RESIDUE_LABEL
%FORMAT(20a4)
MOL CU  CLA
%FLAG RESIDUE_POINTER
%FORMAT(10I8)
       1       5       6
%FLAG BONDS_INC_HYDROGEN
%FORMAT(10I8)
       0       3       1
%FLAG BONDS_WITHOUT_HYDROGEN
%FORMAT(10I8)
       0       6       2
""" + "".join(
    f"%FLAG {kind}_{which}_HYDROGEN\n%FORMAT(10I8)\n\n"
    for kind in ("ANGLES", "DIHEDRALS")
    for which in ("INC", "WITHOUT")
)

INPCRD = "a title\n    6  0.2500000E+02\n"

CHARMM = """\
* a title
*
    3
    1    1 MOL  CA     1.00000   2.00000   3.00000 SEG  1      0.00000
    2    1 MOL  HA     1.50000  -2.25000   3.00000 SEG  1      0.00000
    3    2 CLA  CLA    0.00000   0.12345   9.00000 ION  2      0.00000
"""


def inpcrd() -> str:
    cells = [f"{each:12.7f}" for each in POINTS.ravel()]
    rows = ["".join(cells[at : at + 6]) for at in range(0, len(cells), 6)]
    box = "".join(f"{each:12.7f}" for each in (10.0, 11.0, 12.0, 90.0, 90.0, 90.0))
    return INPCRD + "\n".join([*rows, box, ""])


@needs_mdanalysis
@pytest.mark.filterwarnings("ignore")
def test_files_of_amber(tmp_path: Path) -> None:
    atoms = write(tmp_path / "a.prmtop", PRMTOP)
    (spheres,) = load(write(tmp_path / "a.inpcrd", inpcrd()), topology=atoms).spheres
    np.testing.assert_array_equal(spheres.centers, np.round(POINTS, 7))
    np.testing.assert_allclose(
        spheres.radius, [ATOM * (find_element(each).radius or 0.0) for each in SYMBOLS]
    )
    assert spheres.time == (25.0, "ps")
    assert spheres.box is not None
    np.testing.assert_allclose(spheres.box.edges, np.diag([10.0, 11.0, 12.0]), atol=1e-9)
    columns = spheres.columns
    np.testing.assert_allclose(columns["charge"], [0.1, -0.2, 0, 0, 2, -1])
    assert columns["residue"].tolist() == ["MOL"] * 4 + ["CU", "CLA"]
    assert columns["resid"].tolist() == [1, 1, 1, 1, 2, 3]
    table = columns.bond_table()
    assert table is not None
    assert table[0].tolist() == [[0, 1], [0, 2]]


@needs_mdanalysis
def test_coordinates_of_charmm(tmp_path: Path) -> None:
    path = write(tmp_path / "a.crd", CHARMM)
    data = read(path)
    expected = [[1.0, 2.0, 3.0], [1.5, -2.25, 3.0], [0.0, 0.12345, 9.0]]
    np.testing.assert_allclose(data.centers, expected, rtol=1e-7)
    np.testing.assert_array_equal(
        data.radius, [find_element(each).radius for each in ("C", "H", "Cl")]
    )
    found = load(path).describe(2).values
    assert (found["residue"], found["name"], found["segment"]) == ("CLA", "CLA", "ION")


@pytest.mark.parametrize("text", [INPCRD + " 1.0\n", INPCRD + " one\n", INPCRD, "a title\n", ""])
def test_restart_files_that_are_wrong(tmp_path: Path, text: str) -> None:
    assert complaint(write(tmp_path / "a.inpcrd", text)).startswith(str(tmp_path / "a.inpcrd: "))


def mdcrd(frames: int, box: bool = True, end: str = "\n") -> str:
    """A trajectory of AMBER in text: each frame is moved by 1 along all axes."""
    lines = ["a title"]
    for frame in range(frames):
        cells = [f"{each + frame:8.3f}" for each in POINTS.ravel()]
        lines += ["".join(cells[at : at + 10]) for at in range(0, len(cells), 10)]
        lines += ["".join(f"{each + frame:8.3f}" for each in (10.0, 11.0, 12.0))] if box else []
    return end.join([*lines, ""])


@needs_mdanalysis
@pytest.mark.parametrize(
    ("name", "end", "box"),
    [("a.mdcrd", "\n", True), ("a.crd", "\r\n", False), ("a.mdcrd.gz", "\n", False)],
)
def test_trajectories_of_amber_in_text(tmp_path: Path, name: str, end: str, box: bool) -> None:
    """The topology says the number of atoms; frames are chosen as those of other trajectories."""
    atoms = write(tmp_path / "a.prmtop", PRMTOP)
    content = mdcrd(4, box, end).encode()
    path = write(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    for asked, frame in ((0, 0), (2, 2), (-1, 3)):
        scene = load(path, asked, topology=atoms)
        (spheres,) = scene.spheres
        np.testing.assert_allclose(spheres.centers, np.round(POINTS, 3) + frame, atol=1e-9)
        np.testing.assert_allclose(
            spheres.radius, [ATOM * (find_element(each).radius or 0.0) for each in SYMBOLS]
        )
        assert (spheres.box is not None) is box
        if spheres.box is not None:
            edges = np.diag(np.array([10.0, 11.0, 12.0]) + frame)
            np.testing.assert_allclose(spheres.box.edges, edges, atol=1e-9)
    assert scene.describe(5).values["residue"] == "CLA"
    assert open_frames(InputSource.of(path, topology=atoms)).count == 4
    file = scene.spheres[0].file
    assert file is not None
    assert summarize_file(file)["frames"] == 4
    with pytest.raises(UserError, match="there is no frame 4: it has 4 frames"):
        load(path, 4, topology=atoms)


@needs_mdanalysis
def test_a_trajectory_of_amber_without_a_topology(tmp_path: Path) -> None:
    said = complaint(write(tmp_path / "a.mdcrd", mdcrd(1)))
    assert "files ending in '.mdcrd' cannot be read without a topology" in said
    assert "--topology ATOMS.prmtop" in said
