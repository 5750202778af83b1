"""What filters and samples do to edges, through pictures alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference import View
from reference.scene import Array
from support.project import shoot
from support.scenes import one_ball

# Orthographic, one scene unit a pixel: the unit of length is the pixel.
SIDE = 24


def disc(radius: float, backend: str, **settings: Any) -> Array:
    """Coverage of a disc in the middle of the picture, radius in pixels."""
    view = View((0, 0, 5 * radius), (0, 0, 0), vertical_fov=None, height=float(SIDE))
    ball = one_ball(view, radius)
    return shoot(ball, SIDE, SIDE, backend=backend, **settings)[..., 0].astype(np.float64)


def exact_coverage(radius: float) -> Array:
    """Share of each pixel inside the disc, by a fine midpoint rule."""
    fine = 64
    grid = (np.arange(SIDE * fine) + 0.5) / fine - SIDE / 2
    inside = (grid[:, None] ** 2 + grid[None] ** 2 < radius**2).astype(np.float64)
    return np.asarray(inside.reshape(SIDE, fine, SIDE, fine).mean(axis=(1, 3)))


def test_box_converges_to_area_coverage(backend: str) -> None:
    exact = exact_coverage(7.3)
    errors = []
    for samples in (4, 16, 64, 256):
        picture = disc(7.3, backend, filter="box", samples=samples)
        edge = (exact > 0) & (exact < 1)
        assert (picture[~edge] == exact[~edge]).all(), "away from the edge nothing is noise"
        errors.append(float(np.sqrt(((picture - exact)[edge] ** 2).mean())))
    assert errors[-1] < 0.006
    # Faster than independent samples, whose error halves when the samples are four times as many.
    assert errors[-1] < errors[0] / 12


@pytest.mark.parametrize("name", ["box", "tent", "gaussian"])
def test_filters_keep_the_area(backend: str, name: str) -> None:
    picture = disc(7.3, backend, filter=name, samples=64)
    assert picture.sum() == pytest.approx(np.pi * 7.3**2, rel=2e-3)


def variance_of(name: str, radius: float) -> float:
    """Variance of a filter along one axis, in square pixels."""
    if name == "box":
        return radius**2 / 3
    if name == "tent":
        return radius**2 / 6
    # A normal distribution of sigma = radius / 3, cut at three sigma.
    density = np.exp(-4.5) / np.sqrt(2 * np.pi)
    return float((radius / 3) ** 2 * (1 - 2 * 3 * density / 0.9973002039))


@pytest.mark.parametrize(("name", "radius"), [("box", 0.5), ("tent", 1.0), ("gaussian", 1.5)])
def test_moments_of_a_filter(backend: str, name: str, radius: float) -> None:
    """A filter widens the second moment of a disc by its own variance, and moves nothing."""
    picture = disc(6.0, backend, filter=name, samples=256)
    axis = np.arange(SIDE) + 0.5 - SIDE / 2
    total = picture.sum()
    assert (picture.sum(axis=0) * axis).sum() / total == pytest.approx(0, abs=2e-3)
    assert (picture.sum(axis=1) * axis).sum() / total == pytest.approx(0, abs=2e-3)
    second = (picture * (axis[:, None] ** 2 + axis[None] ** 2)).sum() / total
    # Pixels are samples of the filtered disc at their centres, a disc's own moment is r^2 / 2.
    assert second - 6.0**2 / 2 == pytest.approx(2 * variance_of(name, radius), rel=0.05, abs=0.01)


def test_wider_filters_are_softer(backend: str) -> None:
    edges = [
        ((p > 0.01) & (p < 0.99)).sum()
        for p in (disc(7.3, backend, filter=name, samples=64) for name in ("point", "box", "tent"))
    ]
    assert edges[0] == 0 < edges[1] < edges[2]


def test_the_mean_of_samples_is_the_picture(backend: str) -> None:
    whole = disc(7.3, backend, filter="box", samples=8)
    single = [disc(7.3, backend, filter="box", samples=1, first_sample=s, seed=0) for s in range(8)]
    np.testing.assert_allclose(np.mean(single, axis=0), whole, atol=1e-6)
