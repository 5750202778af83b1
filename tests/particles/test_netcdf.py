"""Trajectories in NetCDF, written by SciPy; the corpus has those of other packages, and CDF-5."""

from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.config.warning import collect_warnings
from raytracer.particles.locate import locate_frame
from raytracer.particles.read import count_frames, read
from support.particle_files import complaint, write

POINTS = np.random.default_rng(7).uniform(0.1, 9.0, (7, 3))


def netcdf(path: Path, version: int = 2, frames: int = 2) -> Path:
    """Write a trajectory; without frames a restart file."""
    io = pytest.importorskip("scipy.io")
    with io.netcdf_file(path, "w", version=version) as file:
        rows = ("frame",) if frames else ()
        for name, size in (("frame", None), ("atom", 7), ("spatial", 3)):
            file.createDimension(name, size)
        for name, kind, dimensions, values in (
            ("time", "f", (), 1.0),
            ("coordinates", "d", ("atom", "spatial"), POINTS),
            ("cell_lengths", "d", ("spatial",), [10.0, 11.0, 12.0]),
            ("cell_angles", "d", ("spatial",), [90.0, 90.0, 90.0]),
            ("type", "i", ("atom",), np.arange(7) % 3),
            ("velocities", "f", ("atom", "spatial"), POINTS),
        ):
            variable = file.createVariable(name, kind, (*rows, *dimensions))
            for frame in range(frames):
                variable[frame] = np.asarray(values) + frame * (name in ("time", "coordinates"))
            if not frames:
                variable[...] = values
        file.variables["time"].units = "picosecond"
        file.variables["velocities"].scale_factor = 20.0
    return path


@pytest.mark.parametrize("version", [1, 2])
def test_a_trajectory_in_netcdf(tmp_path: Path, version: int) -> None:
    path = netcdf(tmp_path / "a.nc", version)
    assert count_frames(path) == 2
    first, last = read(path), read(locate_frame(path, -1))
    np.testing.assert_array_equal(first.centers, POINTS)
    np.testing.assert_array_equal(last.centers, POINTS + 1.0)
    assert first.box is not None
    assert np.diag(first.box.edges).tolist() == [10.0, 11.0, 12.0]
    assert (first.time, last.time) == ((1.0, "ps"), (2.0, "ps"))
    with collect_warnings():
        scene = load(path, columns=["type", "speed"])
    assert scene.columns["type"].tolist() == [0, 1, 2, 0, 1, 2, 0]
    speeds = np.linalg.norm(20.0 * POINTS.astype("f4"), axis=1)  # by its scale_factor
    np.testing.assert_allclose(scene.columns["speed"], speeds, rtol=1e-6)
    restart = netcdf(tmp_path / "a.ncrst", version, frames=0)
    np.testing.assert_array_equal(read(restart).centers, POINTS)


def test_a_trajectory_that_is_still_written(tmp_path: Path) -> None:
    whole = netcdf(tmp_path / "a.nc").read_bytes()
    cut = write(tmp_path / "a.nc", whole[:-30])
    assert count_frames(cut) == 1
    open_ended = whole[:4] + b"\xff\xff\xff\xff" + whole[8:]  # "streaming": go by the size
    assert count_frames(write(tmp_path / "b.nc", open_ended)) == 2


def test_each_cut_is_read_or_refused(tmp_path: Path) -> None:
    """A file that ends anywhere is one sentence, and never another error."""
    content = netcdf(tmp_path / "a.nc").read_bytes()
    for end in range(0, len(content), 7):
        said = complaint(write(tmp_path / "a.nc", content[:end]))
        assert said or end > len(content) // 2
    assert "not a NetCDF file" in complaint(write(tmp_path / "a.nc", b"CDF\x03" + bytes(40)))
