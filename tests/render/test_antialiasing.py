"""What filters and samples do to edges, through pictures alone."""

from typing import Any

import numpy as np
import pytest

from reference import View
from reference.scene import Array
from support.project import shoot
from support.scenes import one_ball

# Orthographic, one scene unit a pixel: the unit of length is the pixel.
SIDE = 24
# Points a pixel and axis of the exact pictures.
FINE = 32


def disc(radius: float, backend: str, **settings: Any) -> Array:
    """Coverage of a disc in the middle of the picture, radius in pixels."""
    view = View((0, 0, 5 * radius), (0, 0, 0), vertical_fov=None, height=float(SIDE))
    ball = one_ball(view, radius)
    return shoot(ball, SIDE, SIDE, backend=backend, **settings)[..., 0].astype(np.float64)


def weights(name: str, radius: float) -> Array:
    """The filter along one axis at FINE points a pixel, as weights that sum to one."""
    reach = int(np.ceil(radius * FINE))
    place = np.abs((np.arange(2 * reach) + 0.5 - reach) / FINE)
    density = {
        "box": np.ones_like(place),
        "tent": 1 - place / radius,
        # A normal distribution of sigma = radius / 3, cut at three sigma.
        "gaussian": np.exp(-4.5 * (place / radius) ** 2),
    }[name]
    density = np.where(place < radius, density, 0)
    return np.asarray(density / density.sum())


def exact_picture(name: str, radius: float, ball: float) -> Array:
    """The disc seen through a filter, by a fine midpoint rule."""
    margin = 2
    grid = (np.arange((SIDE + 2 * margin) * FINE) + 0.5) / FINE - SIDE / 2 - margin
    inside = (grid[:, None] ** 2 + grid[None] ** 2 < ball**2).astype(np.float64)
    kernel = weights(name, radius)
    middle = ((np.arange(SIDE) + margin) * FINE + FINE // 2)[:, None]
    taps = middle + np.arange(len(kernel)) - len(kernel) // 2
    rows = (inside[taps] * kernel[:, None]).sum(axis=1)
    return np.asarray((rows[:, taps] * kernel).sum(axis=2))


def test_box_converges_to_area_coverage(backend: str) -> None:
    exact = exact_picture("box", 0.5, 7.3)
    errors = []
    for samples in (4, 16, 64, 256):
        picture = disc(7.3, backend, filter="box", samples=samples)
        edge = (exact > 0) & (exact < 1)
        assert (picture[~edge] == exact[~edge]).all(), "away from the edge nothing is noise"
        errors.append(float(np.sqrt(((picture - exact)[edge] ** 2).mean())))
    assert errors[-1] < 0.006
    # Faster than independent samples, whose error halves when the samples are four times as many.
    assert errors[-1] < errors[0] / 12


@pytest.mark.parametrize(
    ("name", "radius"),
    [("box", 0.5), ("box", 1.25), ("tent", 1.0), ("tent", 2.0), ("gaussian", 1.5), ("gaussian", 1)],
)
def test_an_edge_is_the_disc_seen_through_the_filter(
    backend: str, name: str, radius: float
) -> None:
    picture = disc(7.3, backend, filter=name, samples=256, filter_radius=float(radius))
    error = picture - exact_picture(name, radius, 7.3)
    assert np.sqrt((error**2).mean()) < 0.004
    assert np.abs(error).max() < 0.05
    axis = np.arange(SIDE) + 0.5 - SIDE / 2
    assert abs((error.sum(axis=0) * axis).sum()) < 0.004 * picture.sum(), "nothing is shifted"
    assert abs((error.sum(axis=1) * axis).sum()) < 0.004 * picture.sum(), "nothing is shifted"
