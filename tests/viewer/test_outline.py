"""The outline of a sphere: rays just inside of it hit, rays just outside miss."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from raytracer.viewer.orbit_camera import View
from raytracer.viewer.picking import CORNERS, outline
from support.previews import pixel_ray
from support.views import views

WINDOW = (800, 600)


def passes(view: View, center: NDArray[np.float64], x: float, y: float) -> float:
    """How near the ray through a place of the window, from the lower left, comes to a point."""
    origin, direction = pixel_ray(view, x, WINDOW[1] - y, WINDOW)
    return float(np.linalg.norm(np.cross(center - origin, direction)))


@given(view=views(), seed=st.integers(0, 10_000), radius=st.floats(1e-3, 0.8))
def test_rays_through_the_outline_touch_the_sphere(view: View, seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    axes = view.pose.axes
    away = rng.uniform(0.1, 2.0) * radius + rng.uniform(0.0, 6.0) * (seed % 2)
    side = rng.uniform(-1.0, 1.0, 2) * (
        view.pose.half if view.orthographic else view.pose.half * away
    )
    center = view.pose.eye + away * axes.forward + side[0] * axes.right + side[1] * axes.up
    corners = np.array(outline(view, center, radius, WINDOW))
    if not len(corners):  # a part of it is beside or behind the eye
        offset = center - view.pose.eye
        assert not view.orthographic
        assert offset @ axes.forward <= radius
        return
    assert corners.shape == (CORNERS, 2)
    middle = corners.mean(axis=0)
    assume(np.linalg.norm(corners - middle, axis=1).max() < 1e5)
    for x, y in corners:
        assert passes(view, center, x, y) == pytest.approx(radius, rel=1e-6)
    inside, outside = (middle + (corners - middle) * factor for factor in (0.999, 1.001))
    assert all(passes(view, center, x, y) < radius for x, y in inside)
    assert all(passes(view, center, x, y) > radius for x, y in outside)


@given(view=views(), radius=st.floats(0.01, 1.0))
def test_nothing_is_drawn_around_the_eye_or_behind_it(view: View, radius: float) -> None:
    forward = view.pose.axes.forward
    assert outline(view, view.pose.eye - 3.0 * forward, radius, WINDOW) == []
    if not view.orthographic:
        assert outline(view, view.pose.eye + 0.9 * radius * forward, radius, WINDOW) == []
