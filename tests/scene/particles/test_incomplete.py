"""Binary files and tables that are cut, or that store some particles' quantities alone."""

import struct
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.scene.particles.read import source_of
from support.particle_files import complaint, write

POINTS = np.arange(12.0).reshape(4, 3)


def snapshot(counts: list[int], kind: str, blocks: list[np.ndarray]) -> bytes:
    """Return a snapshot of Gadget, format 1, with the blocks after the positions."""
    counts = counts + [0] * (6 - len(counts))
    head = struct.pack("<6i6ddd2i6i2id", *counts, *[0.0] * 6, 0.5, 1.0, 0, 0, *counts, 0, 1, 20.0)
    data = [head.ljust(256, b"\0"), POINTS.astype(kind).tobytes(), *(b.tobytes() for b in blocks)]
    return b"".join(struct.pack("<I", len(b)) + b + struct.pack("<I", len(b)) for b in data)


def particles(kind: str) -> list[np.ndarray]:
    """Return the velocities, identifiers and masses of the particles."""
    return [POINTS.astype(kind), np.arange(4, dtype="u4"), np.ones(4, kind)]


def test_double_precision_of_gas_that_is_half_of_all(tmp_path: Path) -> None:
    blocks = [*particles("f8"), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    (spheres,) = load(write(tmp_path / "a.gadget", snapshot([2, 2], "f8", blocks))).spheres
    np.testing.assert_array_equal(spheres.columns["internal_energy"], [3, 4, np.nan, np.nan])
    np.testing.assert_array_equal(spheres.columns["density"], [5, 6, np.nan, np.nan])


def test_without_gas_there_are_no_blocks_of_gas(tmp_path: Path) -> None:
    blocks = [*particles("f4"), np.arange(4, dtype="f4")]
    with source_of(write(tmp_path / "a.gadget", snapshot([0, 4], "f4", blocks))) as source:
        assert "internal_energy" not in source.columns
        np.testing.assert_array_equal(source.load(["potential"])["potential"], range(4))


@pytest.mark.parametrize("cut", [4, 10, 60])
def test_a_snapshot_that_is_cut(tmp_path: Path, cut: int) -> None:
    data = snapshot([0, 4], "f4", particles("f4"))
    assert "is incomplete" in complaint(write(tmp_path / "a.gadget", data[:-cut]))


@pytest.mark.parametrize(("pad", "cut"), [(b"\0" * 4, 0), (b"", 0), (b"\0" * 4, 4)])
def test_tipsy_with_and_without_padding(tmp_path: Path, pad: bytes, cut: int) -> None:
    rows = np.ones((4, 9), ">f4")
    rows[:, 1:4] = POINTS
    data = struct.pack(">d5i", 0.5, 4, 3, 0, 4, 0) + pad + rows.tobytes()
    path = write(tmp_path / "a.tipsy", data[: len(data) - cut])
    if cut:
        assert "is damaged" in complaint(path)
    else:
        np.testing.assert_array_equal(load(path).spheres[0].centers, POINTS)


@pytest.mark.parametrize("form", ["ascii", "binary"])
def test_a_point_cloud_that_is_cut(tmp_path: Path, form: str) -> None:
    pytest.importorskip("pypcd4")
    head = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 5\nHEIGHT 1\n"
    head += f"VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 5\nDATA {form}\n"
    rows = "".join(f"{x} {y} {z}\n" for x, y, z in POINTS).encode()
    data = rows if form == "ascii" else POINTS.astype("f4").tobytes()
    assert "is incomplete" in complaint(write(tmp_path / "a.pcd", head.encode() + data))


def test_a_last_row_without_x_is_not_left_out(tmp_path: Path) -> None:
    assert complaint(write(tmp_path / "a.csv", "x,y,z\n1,2,3\n4,5,6\nnan,8,9\n"))
