"""What one library does not read, or only in part: another one is asked, or it is told."""

import re
from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer.config.errors import UserError
from raytracer.model.data_file import DataFile
from raytracer.particles.molecules import guess_element
from raytracer.scene_files.summary import summarize_file

V3000 = """
  by hand

  0  0  0     0  0            999 V3000
M  V30 BEGIN CTAB
M  V30 COUNTS 2 1 0 0 0
M  V30 BEGIN ATOM
M  V30 1 C 0.0 0.0 0.0 0
M  V30 2 O 1.4 0.5 0.0 0
M  V30 END ATOM
M  V30 BEGIN BOND
M  V30 1 1 1 2
M  V30 END BOND
M  V30 END CTAB
M  END
$$$$
"""

MOL2 = """@<TRIPOS>MOLECULE
test
 2 0 0 0 0
SMALL
USER_CHARGES
@<TRIPOS>ATOM
      1 C          0.0000      0.0000      0.0000 C.3     1  ALA        0.0000
      2 O          1.4000      0.5000      0.0000 O.3     1  ALA        0.0000
"""

PQR = """ATOM  99999  C   MET A1000       0.000   0.000   0.000  0.1592 1.5000
HETATM100000  O   WAT A1001       1.400   0.500   0.000 -0.8340 1.2500
"""

POSCAR = """CO
1.0
4 0 0
0 4 0
0 0 4
C O
1 1
Cartesian
0 0 0
1.4 0.5 0
"""

GRID = "\n  2  2  2\n 0.1 0.2 0.3 0.4 0.5\n 0.6 0.7 0.8\n"


@pytest.mark.parametrize(
    ("name", "text", "package", "told"),
    [
        ("a.sdf", V3000, "rdkit", "rdkit reads it, since chemfiles does not"),
        ("a.mol", V3000, "rdkit", "rdkit reads it, since chemfiles does not"),
        ("a.mol2", MOL2, "MDAnalysis", "MDAnalysis reads it, since chemfiles does not"),
        ("a.pqr", PQR, "MDAnalysis", ""),
        ("elements.pqr", PQR.replace("1.5000\n", "1.5000  C\n"), "MDAnalysis", ""),
        ("CHGCAR", POSCAR + GRID, "ase", ""),
        ("LOCPOT.vasp", POSCAR + GRID, "ase", ""),
        ("POSCAR", POSCAR + "\n0 0 0.5\n0 0 0.25\n", "ase", ""),
    ],
)
@pytest.mark.filterwarnings("ignore:.*reads it")
def test_two_atoms(tmp_path: Path, name: str, text: str, package: str, told: str) -> None:
    pytest.importorskip(package)
    path = tmp_path / name
    path.write_text(text)
    if told:
        with pytest.warns(UserWarning, match=f"{re.escape(name)}: {told}"):
            scene = raytracer.load(path)
    else:
        scene = raytracer.load(path)
    assert np.allclose(scene.spheres[0].centers, [[0.0, 0.0, 0.0], [1.4, 0.5, 0.0]], atol=1e-6)
    assert scene.columns["element"].tolist() == ["C", "O"]
    if name.endswith("pqr"):
        assert np.allclose(scene.spheres[0].radius, [1.5, 1.25])
        assert scene.columns["residue_id"].tolist() == [1000, 1001]


def test_a_line_of_pqr_that_is_no_atom_is_named(tmp_path: Path) -> None:
    pytest.importorskip("MDAnalysis")
    path = tmp_path / "a.pqr"
    path.write_text(PQR + "ATOM  3  O   WAT A1001       1.400   0.500\n")
    with pytest.raises(UserError, match=r"line 3 is no atom of PQR: .* charge and radius"):
        raytracer.load(path)


CELL = """
_cell_length_a 4
_cell_length_b 4
_cell_length_c 4
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_symmetry_space_group_name_H-M 'P 1'
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
_atom_site_occupancy
"""


def test_the_most_frequent_atom_of_a_shared_place_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("gemmi")
    path = tmp_path / "a.cif"
    rows = "Ni1 Ni 0 0 0 0.3\nFe1 Fe 0.9999 0 0 0.5\nCo1 Co 0 0 0 0.2\nO1 O 0.5 0.5 0.5 0.9\n"
    path.write_text(f"data_a{CELL}{rows}")
    with pytest.warns(UserWarning, match="'Ni1', 'Co1' share their places with more frequent"):
        scene = raytracer.load(path)
    assert scene.columns["element"].tolist() == ["Fe", "O"]


@pytest.mark.filterwarnings("ignore:.*has 2 frames")
def test_each_structure_of_a_cif_is_a_frame(tmp_path: Path) -> None:
    pytest.importorskip("gemmi")
    path = tmp_path / "a.cif"
    path.write_text(f"data_a{CELL}Na1 Na 0 0 0 1\ndata_b{CELL}Cl1 Cl 0.25 0 0 1\n")
    for frame, element in enumerate(("Na", "Cl")):
        scene = raytracer.load(path, frame=frame)
        assert scene.columns["element"].tolist() == [element]
        assert scene.spheres[0].centers.tolist() == [[float(frame), 0.0, 0.0]]


def test_points_of_other_pieces_are_left_out(tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    points = pyvista.PolyData(np.arange(12.0).reshape(4, 3))
    points.point_data["vtkGhostType"] = np.array([0, 1, 0, 2], np.uint8)
    points.save(tmp_path / "a.vtp")
    for source in (tmp_path / "a.vtp", points):
        with pytest.warns(UserWarning, match="2 points that 'vtkGhostType' marks"):
            scene = (
                raytracer.load(source)
                if isinstance(source, Path)
                else raytracer.Scene.from_object(source)
            )
        assert scene.spheres[0].centers[:, 0].tolist() == [0.0, 6.0]


@pytest.mark.parametrize(
    ("atom", "residue", "element"),
    [("HG", "HG", "Hg"), ("HG", "HG2+", "Hg"), ("HG", "SER", "H"), ("PB", "PB", "Pb"),
     ("CD", "GLU", "C"), ("HO", "HO", "Ho"), ("OH", "OH", "O"), ("HG21", "VAL", "H")],
)  # fmt: skip
def test_an_ion_has_the_name_of_its_residue(atom: str, residue: str, element: str) -> None:
    assert guess_element(atom, residue) == element


@pytest.mark.parametrize("number", [32004, 32013, 32018])  # lz4, zfp, fcidecomp
def test_a_filter_that_hdf5_lacks_is_named(tmp_path: Path, number: int) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["Coordinates"] = np.arange(6.0).reshape(2, 3)
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_chunk((2,))
        layout.set_filter(number, h5py.h5z.FLAG_OPTIONAL)
        space, kind = h5py.h5s.create_simple((2,)), h5py.h5t.NATIVE_DOUBLE
        values = h5py.h5d.create(file.id, b"Masses", kind, space, layout)
        values.write_direct_chunk((0,), b"packed")
    scene = raytracer.load(path)
    assert scene.count == 2
    with pytest.raises(UserError, match=r"'Masses' is compressed by .*: pip install hdf5plugin"):
        scene.styled(color_by="Masses")
    about = summarize_file(DataFile(path))
    assert [column["name"] for column in about["columns"]] == ["Coordinates", "Masses"]
    assert "low" not in about["columns"][1]
