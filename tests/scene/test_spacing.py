"""The radius of particles without one: from the distances between neighbours."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.scene import spacing
from raytracer.scene.extent import MAX_SAMPLE, spread
from raytracer.scene.spacing import FAR, local_spacing, mean_spacing

Points = NDArray[np.float64]


def grid(side: int, dimensions: int = 3) -> Points:
    axes = [np.arange(float(side))] * dimensions + [np.zeros(1)] * (3 - dimensions)
    return np.stack(np.meshgrid(*axes), -1).reshape(-1, 3)


def plummer(count: int, seed: int = 1) -> Points:
    rng = np.random.default_rng(seed)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    radius = 1.0 / np.sqrt(rng.uniform(0, 1, count) ** (-2 / 3) - 1.0)
    return np.asarray(radius[:, None] * way)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("side", [2, 3, 30])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_neighbours_of_a_lattice_touch(dimensions: int, side: int, unit: float) -> None:
    assert local_spacing(unit * grid(side, dimensions)) == pytest.approx(unit)


@pytest.mark.parametrize("count", [9, 500, MAX_SAMPLE, MAX_SAMPLE + 1, 60_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_those_of_brute_force(count: int, dtype: type[np.floating[Any]]) -> None:
    centers = np.asarray(plummer(count), dtype)
    found = spacing._neighbor_distances(centers)
    sample = centers[spread(count)]
    queries = sample[:: -(-len(sample) // spacing.QUERIES)]
    for row, query in zip(found, queries, strict=True):
        distances = np.linalg.norm(centers.astype(float) - query.astype(float), axis=1)
        np.testing.assert_allclose(row, np.sort(distances)[1 : FAR + 1], rtol=1e-9)


def test_a_scan_of_a_surface_has_no_holes() -> None:
    """A fraction exp(-density * area) of a surface is between discs at random."""
    places = np.random.default_rng(2).uniform(0, 1, (20_000, 2))
    bumps = np.sin(places).sum(axis=1)
    radius = 0.5 * local_spacing(np.column_stack([places, bumps]))
    assert np.exp(-20_000 * np.pi * radius**2) < 0.1
    assert radius < 0.02


def test_the_dense_part_of_a_cluster_decides() -> None:
    places = plummer(20_000)
    assert local_spacing(places) < 0.05 * mean_spacing(places)


def test_far_particles_and_repeated_ones_change_nothing() -> None:
    one = grid(12)
    for far in (1e3, 1e9, 1e300):
        assert local_spacing(np.concatenate([one, [[far, 0.0, 0.0]]])) == 1.0
    assert local_spacing(np.concatenate([one] * 20)) == 1.0


def test_without_neighbours_the_spacing_is_that_of_the_box() -> None:
    for places in (np.zeros((0, 3)), np.zeros((1, 3)), np.ones((50, 3))):
        assert local_spacing(places) == mean_spacing(places) == 1.0
