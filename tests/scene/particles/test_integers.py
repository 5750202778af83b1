"""Integers of text files: what a type does not hold is refused, never wrapped or cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raytracer.errors import DataFileError
from raytracer.scene.particles.integers import narrowed, whole
from raytracer.scene.particles.read import source_of
from support.particle_files import write

DUMP = """\
ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
1
ITEM: BOX BOUNDS pp pp pp
0 1
0 1
0 1
ITEM: ATOMS id type x y z
{} 1 0 0 0
"""
XYZ = "1\nProperties=species:S:1:pos:R:3:id:I:1\nH 0 0 0 {}\n"
VTK = """\
# vtk DataFile Version 3.0
points
ASCII
DATASET POLYDATA
POINTS 1 float
0 0 0
POINT_DATA 1
SCALARS id unsigned_char 1
LOOKUP_TABLE default
{}
"""
VTP = """\
<VTKFile type="PolyData"><PolyData><Piece><Points>
<DataArray type="Float32" NumberOfComponents="3">0 0 0</DataArray></Points>
<PointData><DataArray type="UInt8" Name="id">{}</DataArray></PointData></Piece></PolyData></VTKFile>
"""
FILES = {"a.dump": DUMP, "a.xyz": XYZ, "a.vtk": VTK, "a.vtp": VTP}


@pytest.mark.parametrize("name", FILES)
def test_ids_of_files(tmp_path: Path, name: str) -> None:
    def ids(value: str) -> list[int]:
        path = write(tmp_path / name, FILES[name].format(value))
        with source_of(path) as source:
            found: list[int] = source.load(["id"])["id"].tolist()
            return found

    assert ids("200") == [200]
    wide = name in ("a.dump", "a.xyz")
    with pytest.raises(DataFileError, match="is beyond the"):
        ids("10000000000000000" if wide else "300")
    if wide:
        assert ids("9007199254740992") == [2**53]
    else:
        with pytest.raises(DataFileError, match="beyond"):
            ids("-1")


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [([1.5], "u1", "1.5 is not an integer"), ([np.nan], "i4", "nan is not an integer"),
     ([np.inf], "i4", "inf is not an integer"), ([-129], "i1", "from -128 to 127"),
     ([2.0**32], "u4", "from 0 to 4,294,967,295"), ([2.0**60], "u8", "beyond the uint64s")],
)  # fmt: skip
def test_what_a_type_does_not_hold(values: list[float], kind: str, said: str) -> None:
    with pytest.raises(DataFileError, match=f"a.ply: 'id': .*{said}"):
        narrowed(np.array([0.0, *values]), np.dtype(kind), "a.ply", "id")


def test_what_a_type_holds() -> None:
    exact = narrowed(np.array([-128, 127]), np.dtype(">i1"), "a", "id")
    np.testing.assert_array_equal(exact, np.array([-128, 127], np.int8))
    wide = np.array([2**64 - 1], np.uint64)
    np.testing.assert_array_equal(narrowed(wide, np.dtype("u8"), "a", "id"), wide)
    assert np.isinf(narrowed(np.array([1e300]), np.dtype("f4"), "a", "id")[0])
    assert whole(np.zeros((0, 2)), "a", "id").shape == (0, 2)
