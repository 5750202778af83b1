"""Files of VTK: points and their arrays; the corpus has those of the writers of VTK and meshio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.scene.particles.read import read
from support.particle_files import refusal, write

TEXT = """\
# vtk DataFile Version 3.0
a cloud
ASCII
DATASET POLYDATA
POINTS 2 float
1 2 3
4 5 6
POINT_DATA 2
SCALARS radius double 1
LOOKUP_TABLE default
0.5 0.25
FIELD FieldData 1
mass 1 2 float
7 8
"""
XML = """\
<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="2">
<Points><DataArray type="Float64" NumberOfComponents="3">1 2 3 4 5 6</DataArray></Points>
<PointData><DataArray type="Float64" Name="radius">0.5 0.25</DataArray>
<DataArray type="Float64" Name="mass">7 8</DataArray></PointData></Piece></PolyData></VTKFile>
"""
FILES = {"a.vtk": TEXT, "a.vtp": XML}


@pytest.mark.parametrize("name", FILES)
def test_points_and_arrays(tmp_path: Path, name: str) -> None:
    pytest.importorskip("vtkmodules")
    path = write(tmp_path / name, FILES[name])
    np.testing.assert_array_equal(read(path).centers, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(read(path).radius, [0.5, 0.25])
    assert load(path).describe(1).values == {"mass": 8.0}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("a.vtk", "POINTS 2", "POINTS 9000"),
        ("a.vtk", "4 5 6", "4 five 6"),
        ("a.vtk", "POINT_DATA", "POINTLESS"),
        ("a.vtp", "<PolyData>", "<PolyDate>"),
        ("a.vtp", "0.5 0.25", "0.5 two"),
        ("a.vtp", "PolyData", "ImageData"),
    ],
)
def test_damaged_files_are_refused(
    tmp_path: Path, name: str, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vtkmodules")
    text = FILES[name].replace(old, new)
    assert "is damaged, or not a valid VTK" in refusal(write(tmp_path / name, text), capsys)
