"""Trajectories in NetCDF, of IBIsCO (.trz) and coordinates of NAMD, written by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.scene.particles.read import frame_count, read
from raytracer.warning import collected
from support.netcdf import netcdf, trajectory
from support.particle_files import complaint, write

POINTS = np.random.default_rng(7).uniform(0.1, 9.0, (7, 3))


def trz(points: np.ndarray, frames: int = 2) -> bytes:
    """A trajectory whose frames are moved by 1 each, nanometres."""
    found = struct.pack("<i80siiii", 80, b"title", 80, 4, 10, 4)
    for frame in range(frames):
        rows = [*(points / 10.0 + frame).T, *points.T]
        found += struct.pack("<4id2i", 20, frame + 1, frame, len(points), 0.5 * frame, 20, 72)
        found += np.diag([1.0, 1.1, 1.2]).astype("<f8").tobytes() + struct.pack("<2i", 72, 56)
        found += bytes(56) + struct.pack("<3i", 56, 0, 0) + bytes(32) + bytes(24)
        found += b"".join(row.astype("<f4").tobytes() + bytes(8) for row in rows)[:-4]
    return found


@pytest.mark.parametrize("version", [1, 2, 5])
def test_a_trajectory_in_netcdf(tmp_path: Path, version: int) -> None:
    path = write(tmp_path / "a.nc", trajectory(POINTS, version))
    assert frame_count(path) == 2
    first, last = read(path), read(path, frame=-1)
    np.testing.assert_array_equal(first.centers, POINTS)
    np.testing.assert_array_equal(last.centers, POINTS + 1.0)
    assert first.box is not None
    assert np.diag(first.box.edges).tolist() == [10.0, 11.0, 12.0]
    assert (first.time, last.time) == ((1.0, "ps"), (2.5, "ps"))
    with collected():
        scene = load(path, columns=["type", "speed"])
    assert scene.columns["type"].tolist() == [0, 1, 2, 0, 1, 2, 0]
    speeds = np.linalg.norm(20.0 * POINTS.astype("f4"), axis=1)  # by its scale_factor
    np.testing.assert_allclose(scene.columns["speed"], speeds, rtol=1e-6)


def test_a_restart_and_one_variable_with_records(tmp_path: Path) -> None:
    sizes = {"atom": 7, "spatial": 3}
    restart = netcdf(1, sizes, {"coordinates": (("atom", "spatial"), POINTS, {})})
    np.testing.assert_array_equal(read(write(tmp_path / "a.ncrst", restart)).centers, POINTS)
    both = np.stack([POINTS, -POINTS])
    alone = netcdf(5, {"frame": 0} | sizes,
                   {"coordinates": (("frame", "atom", "spatial"), both, {})}, 2)  # fmt: skip
    np.testing.assert_array_equal(read(write(tmp_path / "b.nc", alone), frame=1).centers, -POINTS)


def test_a_trajectory_that_is_still_written(tmp_path: Path) -> None:
    whole = trajectory(POINTS)
    cut = write(tmp_path / "a.nc", whole[:-30])
    assert frame_count(cut) == 1
    open_ended = whole[:4] + b"\xff\xff\xff\xff" + whole[8:]  # "streaming": go by the size
    assert frame_count(write(tmp_path / "b.nc", open_ended)) == 2


def test_trz(tmp_path: Path) -> None:
    path = write(tmp_path / "a.trz", trz(POINTS))
    assert frame_count(path) == 2
    found = read(path, frame=1)
    np.testing.assert_allclose(found.centers, POINTS + 10.0, atol=2e-6)
    assert found.time == (0.5, "ps")
    assert found.box is not None
    np.testing.assert_allclose(np.diag(found.box.edges), [10.0, 11.0, 12.0])
    with collected():
        speeds = load(path, columns=["speed"]).columns["speed"]
    np.testing.assert_allclose(speeds, 10.0 * np.linalg.norm(POINTS, axis=1), rtol=1e-6)


@pytest.mark.parametrize("order", ["<", ">"])
def test_coordinates_of_namd(tmp_path: Path, order: str) -> None:
    content = struct.pack(f"{order}i", 7) + POINTS.astype(f"{order}f8").tobytes()
    np.testing.assert_array_equal(read(write(tmp_path / "a.coor", content)).centers, POINTS)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.nc", b"CDF\x03" + bytes(40), "no NetCDF file of the formats CDF-1, CDF-2 or CDF-5"),
        ("b.nc", netcdf(2, {"x": 3}, {"x": (("x",), np.zeros(3), {})}), "dimension 'atom'"),
        ("c.nc", trajectory(POINTS)[:900], "holds no whole frame"),
        ("d.trz", trz(POINTS)[:400], "is cut short"),
        ("e.trz", b"no trajectory" * 20, "is damaged, or no .trz trajectory"),
        ("f.coor", struct.pack("<i", 9) + bytes(24), "its size is not that of as many atoms"),
    ],
)
def test_damaged(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    assert words in complaint(write(tmp_path / name, content))


@pytest.mark.parametrize(
    ("name", "content"), [("a.nc", trajectory(POINTS, 5)), ("a.trz", trz(POINTS, 1))]
)
def test_each_cut_is_read_or_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A file that ends anywhere is one sentence, and never another error."""
    for end in range(0, len(content), 7):
        said = complaint(write(tmp_path / name, content[:end]))
        assert said or end > len(content) // 2
