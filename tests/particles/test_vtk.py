"""Files of VTK: points and their arrays; the corpus has those of the writers of VTK and meshio."""

from pathlib import Path

import pytest

from raytracer.config.errors import DataFileError
from raytracer.model.data_file import DataFile
from raytracer.particles.read import count_frames, open_source, read
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
    assert "cannot be read as VTK" in refusal(write(tmp_path / name, text), capsys)


def _piece(path: Path, x: float, name: str = "mass") -> None:
    write(path, XML.replace("1 2 3", f"{x} 2 3").replace("mass", name))


def test_times_of_a_collection_are_frames(tmp_path: Path) -> None:
    """Files of one time are its parts, with the arrays that all of them have."""
    pytest.importorskip("vtkmodules")
    (tmp_path / "a").mkdir()
    for place, name in enumerate(("mass", "mass", "other")):
        _piece(tmp_path / f"a/{place}.vtp", place, name)
    entries = "".join(
        f'<DataSet part="{place}" file="a/{place}.vtp" timestep="{time}"/>\n'
        for place, time in enumerate((0.5, 1.5, 1.5))
    )
    path = write(
        tmp_path / "a.pvd",
        f'<VTKFile type="Collection"><Collection>{entries}</Collection></VTKFile>',
    )
    assert count_frames(path) == 2
    assert read(path).centers[:, 0].tolist() == [0, 4]
    with open_source(DataFile(path, frame=1)) as source:
        assert source.particles({}).centers[:, 0].tolist() == [1, 4, 2, 4]
        assert source.time == (1.5, "")
        assert set(source.columns) == {"position", "radius"}
        assert [file.name for file in source.further_files] == ["1.vtp", "2.vtp"]
    (tmp_path / "a/1.vtp").unlink()
    with pytest.raises(DataFileError, match=r"1\.vtp: there is no such file"):
        read(DataFile(path, frame=1))


def test_a_series_and_parts(tmp_path: Path) -> None:
    pytest.importorskip("vtkmodules")
    write(tmp_path / "0.vtk", TEXT)
    _piece(tmp_path / "1.vtp", 7)
    text = '{"files": [{"name": "1.vtp", "time": 3}, {"name": "0.vtk", "time": 2}]}'
    series = write(tmp_path / "a.vtk.series", text)
    assert read(series).centers[:, 0].tolist() == [1, 4]
    assert read(DataFile(series, frame=1)).centers[:, 0].tolist() == [7, 4]
    parts = '<VTKFile type="PPolyData"><PPolyData>{}</PPolyData></VTKFile>'
    listed = "".join(f'<Piece Source="{name}"/>' for name in ("0.vtk", "1.vtp"))
    assert len(read(write(tmp_path / "a.pvtp", parts.format(listed))).centers) == 4
    circle = write(tmp_path / "b.pvtp", parts.format('<Piece Source="b.pvtp"/>'))
    with pytest.raises(DataFileError, match="its lists of files contain each other"):
        read(circle)
    with pytest.raises(DataFileError, match="lists no files"):
        read(write(tmp_path / "c.pvtp", parts.format("")))
