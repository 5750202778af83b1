"""Particle files: each kind is read as it was written, float32 stays float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.scene.elements import Element
from raytracer.scene.particles.read import read
from raytracer.scene.spacing import mean_spacing
from support.particle_files import write


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(9).normal(size=(20, 3)).astype(np.float32)


def test_doubled_columns_that_are_not_read_do_no_harm(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,X [m],id,y,z,id,,\n1,9,9,2,3,9,9,9\n")
    np.testing.assert_array_equal(read(table).centers, [[1, 2, 3]])
    told = read(table, {"x": "X [m]"})
    np.testing.assert_array_equal(told.centers, [[9, 2, 3]])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_with_own_names(tmp_path: Path, points: np.ndarray, save: object) -> None:
    order_f = np.asfortranarray(points.astype(np.float64))
    save(tmp_path / "a.npz", pos=order_f, size=np.float32(2.0), rgb=np.ones((20, 3)))  # type: ignore[operator]
    data = read(tmp_path / "a.npz", {"centers": "pos", "radii": "size", "colors": "rgb"})
    np.testing.assert_array_equal(data.centers, points)
    assert data.radius is not None
    assert float(data.radius) == 2.0
    assert data.names == {"centers": "pos", "radius": "size", "color": "rgb"}


def test_many_labels_over_several_blocks(tmp_path: Path) -> None:
    labels = [("H", "C", "O", "longlabel_number_1")[i * i % 4] for i in range(40_000)]
    text = "".join(f"{label} {i} 0 0\n" for i, label in enumerate(labels))
    path = write(tmp_path / "a.xyz", f"{len(labels)}\n\n{text}")
    own = {label: Element(float(i + 1)) for i, label in enumerate(["H", "C", "longlabel_number"])}
    data = read(path, elements=own)
    assert data.radius is not None
    expected = [{"H": 1.0, "C": 2.0, "O": 0.63}.get(label, 3.0) for label in labels]
    np.testing.assert_array_equal(data.radius, expected)


def test_mean_spacing_and_radius_of_particles_without_radii(tmp_path: Path) -> None:
    grid = np.stack(np.meshgrid(*[np.arange(10.0)] * 3), -1).reshape(-1, 3)
    assert mean_spacing(grid) == pytest.approx(0.9)
    sheet = grid[grid[:, 2] == 0]
    assert mean_spacing(sheet) == pytest.approx(0.9)
    assert mean_spacing(np.zeros((5, 3))) == mean_spacing(np.zeros((0, 3))) == 1.0
    np.save(tmp_path / "a.npy", grid)
    assert load(tmp_path / "a.npy").spheres[0].radius == 0.5  # they touch


def test_a_far_particle_does_not_change_the_radius_of_the_others(tmp_path: Path) -> None:
    grid = np.stack(np.meshgrid(*[np.arange(10.0)] * 3), -1).reshape(-1, 3)
    for far in (1e3, 1e9, 1e300):
        assert mean_spacing(np.concatenate([grid, [[far, 0, 0]]])) == pytest.approx(0.9)
    many = np.concatenate([grid] * 300)
    assert mean_spacing(np.concatenate([many, [[0, 1e6, 0]]])) == mean_spacing(many)
    both = np.concatenate([grid, grid + 1e4])
    assert mean_spacing(both) == pytest.approx(10009 / 2000 ** (1 / 3))
