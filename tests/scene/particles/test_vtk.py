"""Files of VTK: points and their arrays, as meshio and VTK itself write them."""

from __future__ import annotations

import zlib
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raytracer import load
from raytracer.scene.particles.read import read
from support.particle_files import complaint, refusal, write

RNG = np.random.default_rng(29)
POINTS = RNG.normal(size=(12, 3))
RADII = np.arange(1.0, 13.0)
COLORS = RNG.integers(0, 256, (12, 3)).astype(np.uint8)


def require_points(path: Path) -> None:
    data = read(path)
    np.testing.assert_array_equal(data.centers, POINTS)
    np.testing.assert_array_equal(data.radius, RADII)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("vtu", {"binary": False}),
        ("vtu", {"binary": True, "compression": None}),
        ("vtu", {"binary": True, "compression": "zlib"}),
        ("vtu", {"binary": True, "compression": "lzma"}),
        ("vtk", {"binary": False}),
        ("vtk", {"binary": True}),
        ("vtk", {"binary": True, "file_format": "vtk42"}),
        ("vtk", {"binary": False, "file_format": "vtk42"}),
    ],
)
def test_files_of_meshio(tmp_path: Path, suffix: str, options: dict[str, object]) -> None:
    meshio = pytest.importorskip("meshio")
    path = tmp_path / f"a.{suffix}"
    cells = [("tetra", np.arange(12).reshape(3, 4))]
    mesh = meshio.Mesh(
        POINTS, cells, {"radius": RADII, "velocity": POINTS * 2}, {"density": [np.ones(3)]}
    )
    mesh.write(path, **options)
    tolerance = 1e-11 if options == {"binary": False} and suffix == "vtu" else 0.0  # its digits
    np.testing.assert_allclose(read(path).centers, POINTS, rtol=tolerance)
    np.testing.assert_array_equal(read(path).radius, RADII)
    velocity = load(path).describe(4).values["velocity"]
    np.testing.assert_allclose(np.array(velocity), POINTS[4] * 2, rtol=tolerance)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", ["vtp", "vtk"])
@pytest.mark.parametrize("binary", [True, False])
def test_files_of_vtk(tmp_path: Path, suffix: str, binary: bool) -> None:
    pyvista = pytest.importorskip("pyvista")
    cloud = pyvista.PolyData(POINTS)
    cloud["radius"], cloud["color"], cloud["id"] = RADII, COLORS, np.arange(12)
    path = tmp_path / f"a.{suffix}"
    cloud.save(path, binary=binary)
    data = read(path)
    tolerance = 0.0 if binary else 1e-5  # VTK writes few digits
    np.testing.assert_allclose(data.centers, POINTS, rtol=tolerance)
    np.testing.assert_array_equal(data.radius, RADII)
    np.testing.assert_array_equal(data.color, COLORS)
    assert load(path).describe(4).values["id"] == 4


def encoded(data: bytes) -> str:
    return b64encode(np.array([len(data)], "<u4").tobytes() + data).decode()


def packed(data: bytes, block: int = 64) -> str:
    """Compressed blocks in base64, as VTK writes them."""
    pieces = [data[place : place + block] for place in range(0, len(data), block)]
    blocks = [zlib.compress(piece) for piece in pieces]
    words = [len(pieces), block, len(pieces[-1]) % block, *map(len, blocks)]
    head = b64encode(np.array(words, "<u4").tobytes()).decode()
    return head + b64encode(b"".join(blocks)).decode()


XML = """<?xml version="1.0"?>
<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian"{attributes}>
<PolyData><Piece NumberOfPoints="12">
<PointData><DataArray type="Float64" Name="radius" {second}</DataArray></PointData>
<Points><DataArray type="Float64" NumberOfComponents="3" {first}</DataArray></Points>
</Piece></PolyData>{end}</VTKFile>
"""


def in_text() -> str:
    numbers = " ".join(map(repr, POINTS.ravel().tolist()))
    radii = " ".join(map(repr, RADII.tolist()))
    first, second = f'format="ascii">{numbers}', f'format="ascii">{radii}'
    return XML.format(attributes="", first=first, second=second, end="")


def test_inline_and_appended_arrays(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vtp", in_text())
    require_points(path)
    first = f'format="binary">{encoded(POINTS.tobytes())}'
    second = f'format="binary">{encoded(RADII.tobytes())}'
    require_points(write(path, XML.format(attributes="", first=first, second=second, end="")))
    blocks = ' compressor="vtkZLibDataCompressor"'
    first = f'format="binary">{packed(POINTS.tobytes())}'
    second = f'format="binary">{packed(RADII.tobytes())}'
    require_points(write(path, XML.format(attributes=blocks, first=first, second=second, end="")))
    size = np.array([POINTS.nbytes], "<u8").tobytes()
    content = size + POINTS.tobytes() + np.array([RADII.nbytes], "<u8").tobytes() + RADII.tobytes()
    text = XML.format(
        attributes=' header_type="UInt64"',
        first='format="appended" offset="0">',
        second=f'format="appended" offset="{8 + POINTS.nbytes}">',
        end='<AppendedData encoding="raw">_@</AppendedData>',
    )
    head, tail = text.split("@")
    require_points(write(path, head.encode() + content + tail.encode()))


LEGACY = """\
# vtk DataFile Version 3.0
a cloud
ASCII
DATASET POLYDATA
POINTS 2 float
1 2 3
4 5 6
VERTICES 2 4
1 0
1 1
POINT_DATA 2
SCALARS radius double 1
LOOKUP_TABLE default
0.5 0.25
FIELD FieldData 1
mass 1 2 float
7 8
"""


def test_a_legacy_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vtk", LEGACY)
    np.testing.assert_array_equal(read(path).centers, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(read(path).radius, [0.5, 0.25])
    assert load(path).describe(1).values == {"mass": 8.0}


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("POLYDATA", "STRUCTURED_POINTS", "holds no points: it is STRUCTURED_POINTS"),
        ("POINTS 2", "POINTS 9000", "is cut short: 27,000 numbers are announced"),
        ("POINTS 2", "POINTS two", "'two' is no count"),
        ("4 5 6", "4 five 6", "something is no number where 6 are announced"),
        ("float\n1", "quad\n1", "'quad' is no type of numbers"),
        ("POINT_DATA", "POINTLESS", "'POINTLESS 2' begins no section that is known"),
        ("# vtk", "# vtx", "is no legacy file of VTK"),
    ],
)
def test_what_is_wrong_with_a_legacy_file(
    tmp_path: Path, old: str, new: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert part in refusal(write(tmp_path / "a.vtk", LEGACY.replace(old, new)), capsys)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("<PolyData>", "<PolyDate>", "is not XML (mismatched tag"),
        ("VTKFile", "HTMLFile", "is no file of VTK, but <HTMLFile>"),
        ("Piece", "Peace", "holds no points: its type is PolyData"),
        ("Points>", "Dots>", "there are no points (element <Points>)"),
        ('"3"', '"2"', "the points have the shape (18, 2)"),
        ("Float64", "Float128", "the array 'Points' has an unknown type"),
        ("1.0 2.0", "1.0 two", "the array 'radius' holds something that is no number"),
        ('"ascii"', '"appended"', "the array 'Points' lies behind the end"),
        ('"ascii"', '"binary"', "the array 'Points' is damaged, or cut"),
        ("<VTKFile", '<!DOCTYPE a [<!ENTITY b "c">]><VTKFile', "has a DOCTYPE"),
    ],
)
def test_what_is_wrong_with_an_xml_file(
    tmp_path: Path, old: str, new: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert part in refusal(write(tmp_path / "a.vtp", in_text().replace(old, new)), capsys)


def test_a_compression_that_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    array = f'format="binary">{packed(POINTS.tobytes())}'
    attributes = ' compressor="vtkLZ4DataCompressor"'
    text = XML.format(attributes=attributes, first=array, second=array, end="")
    assert "compressed by vtkLZ4DataCompressor" in refusal(write(tmp_path / "a.vtu", text), capsys)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(["vtk", "vtp"]),
    st.text(st.sampled_from('POINTSDAvertcal<>/="x \n0123.-e'), max_size=40),
    st.integers(0, 1500),
    st.integers(0, 60),
)
def test_any_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, text: str, at: int, cut: int
) -> None:
    seed = LEGACY if suffix == "vtk" else in_text()
    at %= len(seed)
    path = tmp_path_factory.mktemp("fuzz") / f"a.{suffix}"
    said = complaint(write(path, seed[:at] + text + seed[at + cut :]))
    assert said == "" or said.startswith(str(path))
