"""Files of VTK: points and their arrays, as meshio and VTK itself write them."""

from __future__ import annotations

import zlib
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.scene.particles.read import read
from support.particle_files import refusal, write
from support.particle_texts import VTK

RNG = np.random.default_rng(29)
POINTS = RNG.normal(size=(12, 3))
RADII = np.arange(1.0, 13.0)
COLORS = RNG.integers(0, 256, (12, 3)).astype(np.uint8)


def require_points(path: Path) -> None:
    data = read(path)
    np.testing.assert_array_equal(data.centers, POINTS)
    np.testing.assert_array_equal(data.radius, RADII)


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


def test_a_legacy_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vtk", VTK)
    np.testing.assert_array_equal(read(path).centers, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(read(path).radius, [0.5, 0.25])
    assert load(path).describe(1).values == {"mass": 8.0}


@pytest.mark.parametrize(
    ("name", "old", "new", "part"),
    [
        ("a.vtk", "POINTS 2", "POINTS 9000", "is incomplete: 27,000 numbers are stated"),
        ("a.vtk", "4 5 6", "4 five 6", "expected 6 numbers, found a text"),
        ("a.vtk", "POINT_DATA", "POINTLESS", "there is no section 'POINTLESS 2'"),
        ("a.vtp", "<PolyData>", "<PolyDate>", "is not XML (mismatched tag"),
        ("a.vtp", "1.0 2.0", "1.0 two", "the array 'radius' has an invalid number"),
        ("a.vtp", '"ascii"', '"binary"', "the array 'Points' is damaged or incomplete"),
        ("a.vtp", "<VTKFile", '<!DOCTYPE a [<!ENTITY b "c">]><VTKFile', "has a DOCTYPE"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, name: str, old: str, new: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = VTK if name == "a.vtk" else in_text()
    assert part in refusal(write(tmp_path / name, seed.replace(old, new)), capsys)


def test_a_compression_that_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    array = f'format="binary">{packed(POINTS.tobytes())}'
    attributes = ' compressor="vtkLZ4DataCompressor"'
    text = XML.format(attributes=attributes, first=array, second=array, end="")
    assert "compressed by vtkLZ4DataCompressor" in refusal(write(tmp_path / "a.vtu", text), capsys)
