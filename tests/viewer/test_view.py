"""Moving the camera: what each motion keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from raytracer.viewer import view as moves
from raytracer.viewer.view import View
from support.previews import view_of
from support.views import ANGLES, ASPECT, BUFFERS, assert_level, assert_same, place, unit, views

AXES = [tuple(float(v) for v in row) for row in (*np.eye(3), *-np.eye(3))]


# Orbit


@given(view=views(), steps=st.lists(st.tuples(ANGLES, ANGLES), min_size=1, max_size=6))
def test_orbit_keeps_distance_place_of_the_pivot_and_level(
    view: View, steps: list[tuple[float, float]]
) -> None:
    turned = view
    for right, up in steps:
        turned = moves.orbit(turned, right, up)
        assert_level(turned)
        sine = np.linalg.norm(np.cross(turned.pose.axes.forward, view.up))
        assert sine >= 0.999 * moves.POLE
    assert turned.distance == pytest.approx(view.distance, rel=1e-9)
    away, before = (np.linalg.norm(v.pose.eye - v.pivot) for v in (turned, view))
    assert away == pytest.approx(before, rel=1e-9)
    np.testing.assert_allclose(place(turned), place(view), atol=1e-8)
    np.testing.assert_array_equal(turned.pivot, view.pivot)
    assert turned.pose.half == view.pose.half


@given(view=views(), angle=st.floats(-0.5, 0.5))
def test_orbit_moves_the_eye_to_the_right_and_up_by_its_angle(view: View, angle: float) -> None:
    """Seen from the pivot in the middle, the eye goes where it is told to."""
    distance = view.distance
    view = replace(view, pivot=view.pose.eye + view.pose.axes.forward * distance)
    axes = view.pose.axes
    level = unit(axes.forward - (axes.forward @ view.up) * view.up)
    aside = moves.orbit(view, angle, 0.0).pose.axes.forward
    aside = unit(aside - (aside @ view.up) * view.up)
    np.testing.assert_allclose(aside, level * np.cos(angle) - axes.right * np.sin(angle), atol=1e-9)
    tilt = np.arccos(axes.forward @ view.up)
    assume(0.01 < tilt + angle < np.pi - 0.01)
    above = moves.orbit(view, 0.0, angle)
    expected = view.pose.eye + distance * (
        np.sin(angle) * axes.up + (1.0 - np.cos(angle)) * axes.forward
    )
    np.testing.assert_allclose(above.pose.eye, expected, atol=1e-9 * max(distance, 1.0))


def test_orbit_for_a_long_time_stays_orthonormal() -> None:
    view = view_of(BUFFERS)
    there = view
    for step in range(20_000):
        there = moves.orbit(there, 0.01, 0.02 * (-1) ** step)
    assert_level(there)
    np.testing.assert_allclose(place(there), place(view), atol=1e-8)


# Along


@given(view=views(), axis=st.sampled_from(AXES), near=st.booleans(), up=st.integers(0, 2))
def test_along_looks_along_the_axis_at_the_same_pivot(
    view: View, axis: tuple[float, float, float], near: bool, up: int
) -> None:
    """With y-up, z-up and x-up scenes, and with an `up` that is near an axis but not on it."""
    tilt = np.array([0.011, 0.013, 0.017]) if near else np.zeros(3)
    view = replace(view, up=unit(np.eye(3)[up] + tilt))
    there = moves.along(view, axis)
    np.testing.assert_allclose(there.pose.axes.forward, axis, atol=1e-12)
    np.testing.assert_allclose(place(there), place(view), atol=1e-9)
    assert there.distance == pytest.approx(view.distance, rel=1e-9)
    if abs(float(np.asarray(axis) @ view.up)) < np.cos(moves.POLE):
        assert_level(there)
    assert_same(moves.orbit(there, 0.0, 0.0), there, atol=1e-9)


# Sideways, forward, nearer, wider


@given(view=views(), right=ANGLES, up=ANGLES)
def test_pan_moves_the_picture_by_its_heights(view: View, right: float, up: float) -> None:
    moved = moves.pan(view, right, up)
    found, _ = moves.project(moved, view.pivot[None], ASPECT)
    shift = (found[0] - place(view)) * (ASPECT, 1.0) / 2.0  # in heights
    np.testing.assert_allclose(shift, (-right, -up), atol=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-9)
    assert moved.distance == pytest.approx(view.distance, rel=1e-9)
    assert moved.pose.axes is view.pose.axes


@given(view=views(), amount=ANGLES)
def test_fly_goes_along_the_view_and_takes_the_pivot_along(view: View, amount: float) -> None:
    view = replace(view, is_section=view.orthographic)
    moved = moves.fly(view, amount)
    step = moved.pose.eye - view.pose.eye
    expected = 2.0 * view.half_height * amount * view.pose.axes.forward
    np.testing.assert_allclose(step, expected, atol=1e-12)
    np.testing.assert_allclose(moved.pivot - view.pivot, step, atol=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-9)


@given(view=views(kind="perspective"), factor=st.floats(0.01, 100.0))
def test_dolly_scales_the_distance_and_keeps_the_pivot_in_its_place(
    view: View, factor: float
) -> None:
    moved = moves.dolly(view, factor)
    assert moved.distance == pytest.approx(view.distance * factor, rel=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-8)
    np.testing.assert_array_equal(moved.pivot, view.pivot)


@given(view=views(kind="perspective"), factor=st.floats(0.5, 2.0), steps=st.integers(1, 30))
def test_zoom_changes_the_field_of_view_alone(view: View, factor: float, steps: int) -> None:
    wide = view
    for _ in range(steps):
        wide = moves.zoom(wide, factor)
    expected = np.clip(view.pose.half * factor**steps, moves.MIN_HALF, moves.MAX_HALF)
    assert wide.pose.half == pytest.approx(float(expected))
    np.testing.assert_array_equal(wide.pose.eye, view.pose.eye)
    assert wide.pose.axes is view.pose.axes
