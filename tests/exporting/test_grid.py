"""The grid of positions: the error that it states, for radii of any range."""

import numpy as np
import pytest

import raytracer
from raytracer.exporting.figure import Figure
from raytracer.exporting.grid import MAX_BITS, PART_OF_RADIUS, Grid
from raytracer.scene.packing.pack import pack


def figure_of(positions: np.ndarray, radius: np.ndarray | float) -> Figure:
    scene = raytracer.Scene([raytracer.SphereSet(positions, radius)])
    return Figure.of(pack(scene))


@pytest.mark.parametrize("least", [1.0, 1e-2, 1e-3])
def test_positions_are_off_by_a_part_of_the_smallest_radius(least: float) -> None:
    rng = np.random.default_rng(3)
    positions = rng.uniform(-10, 30, (2000, 3))
    radius = least * 10 ** rng.uniform(0, 1, 2000)
    figure = figure_of(positions, radius)
    grid = Grid.of(figure)
    back = grid.low + grid.step * grid.codes(figure.positions)
    off = np.linalg.norm(back - figure.positions, axis=1)
    smallest = figure.radius.min()
    assert off.max() <= smallest / PART_OF_RADIUS * 1.01
    assert grid.bits < MAX_BITS


def test_the_finest_grid_is_that_of_float32() -> None:
    positions = np.array([[0.0, 0.0, 0.0], [1e6, 0.0, 0.0]])
    grid = Grid.of(figure_of(positions, 1e-3))
    assert grid.bits == MAX_BITS


def test_radii_keep_four_digits() -> None:
    rng = np.random.default_rng(5)
    radius = 10 ** rng.uniform(-3, 2, 1000)
    figure = figure_of(rng.uniform(-1, 1, (1000, 3)), radius)
    grid = Grid.of(figure)
    back = grid.least * 2.0 ** (grid.octave * grid.radius_codes(figure.radius).astype(float))
    np.testing.assert_allclose(back, figure.radius, rtol=2e-4)


def test_equal_radii_have_one_code() -> None:
    figure = figure_of(np.random.default_rng(0).uniform(-1, 1, (50, 3)), 0.1)
    grid = Grid.of(figure)
    assert not grid.radius_codes(figure.radius).any()
    assert grid.least == pytest.approx(figure.radius[0])
