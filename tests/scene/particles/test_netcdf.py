"""Trajectories in NetCDF, written by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.scene.particles.locate import locate
from raytracer.scene.particles.read import frame_count, read
from raytracer.warning import collected
from support.netcdf import netcdf, trajectory
from support.particle_files import complaint, write

POINTS = np.random.default_rng(7).uniform(0.1, 9.0, (7, 3))


@pytest.mark.parametrize("version", [1, 2, 5])
def test_a_trajectory_in_netcdf(tmp_path: Path, version: int) -> None:
    path = write(tmp_path / "a.nc", trajectory(POINTS, version))
    assert frame_count(path) == 2
    first, last = read(path), read(locate(path, -1))
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
    np.testing.assert_array_equal(read(locate(write(tmp_path / "b.nc", alone), 1)).centers, -POINTS)


def test_a_trajectory_that_is_still_written(tmp_path: Path) -> None:
    whole = trajectory(POINTS)
    cut = write(tmp_path / "a.nc", whole[:-30])
    assert frame_count(cut) == 1
    open_ended = whole[:4] + b"\xff\xff\xff\xff" + whole[8:]  # "streaming": go by the size
    assert frame_count(write(tmp_path / "b.nc", open_ended)) == 2


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.nc", b"CDF\x03" + bytes(40), "not a NetCDF file (CDF-1, CDF-2 or CDF-5)"),
        ("b.nc", netcdf(2, {"x": 3}, {"x": (("x",), np.zeros(3), {})}), "dimension 'atom'"),
        ("c.nc", trajectory(POINTS)[:900], "has no complete frame"),
    ],
)
def test_damaged(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    assert words in complaint(write(tmp_path / name, content))


def test_each_cut_is_read_or_refused(tmp_path: Path) -> None:
    """A file that ends anywhere is one sentence, and never another error."""
    content = trajectory(POINTS, 5)
    for end in range(0, len(content), 7):
        said = complaint(write(tmp_path / "a.nc", content[:end]))
        assert said or end > len(content) // 2
